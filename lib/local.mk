# what is built in lib/
