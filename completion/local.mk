# what is installed of completion/
completionsdir = $(datadir)/bash-completion/completions
dist_completions_DATA = completion/wend completion/proxygen
