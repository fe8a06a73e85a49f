# what is built in lib/
include lib/hot.mk
