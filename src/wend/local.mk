# what is built in src/wend/
WEND_COMMAND_SOURCES = src/wend/command.h src/wend/command.c
