# what is built in bench/
