# fish completion for proxygen: wend.fish has it.
source (status dirname)/wend.fish
