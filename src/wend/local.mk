# what is built in src/wend/
