# manual pages
dist_man_MANS += \
	man/wend.1 \
	man/wend-trace.1
