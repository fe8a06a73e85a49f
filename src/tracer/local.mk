# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/tracer/
include src/tracer/libwend.mk
