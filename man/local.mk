# what is built in man/
