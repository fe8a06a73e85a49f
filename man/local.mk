# SPDX-License-Identifier: BSD-3-Clause
# manual pages
dist_man_MANS += \
	man/proxygen.1 \
	man/wend.1 \
	man/wend-diff.1 \
	man/wend-dump.1 \
	man/wend-export.1 \
	man/wend-merge.1 \
	man/wend-read.3 \
	man/wend-show.1 \
	man/wend-replay.1 \
	man/wend-trace.1
