# what is built in spec/
