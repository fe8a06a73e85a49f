# SPDX-License-Identifier: BSD-3-Clause
# fish completion for proxygen: wend.fish has it.
source (status dirname)/wend.fish
