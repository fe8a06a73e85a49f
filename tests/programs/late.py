# SPDX-License-Identifier: BSD-3-Clause
"""A Python program whose MPI comes with a module that it loads: late.py MODULE"""
import ctypes
import sys

module = ctypes.CDLL(sys.argv[1])
sys.exit(module.run())
