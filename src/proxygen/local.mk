# what is built in src/proxygen/
