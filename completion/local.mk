# SPDX-License-Identifier: BSD-3-Clause
# Installs completion/ for bash, zsh and fish, in the folders where they look for completions of
# packages.
completionsdir = $(datadir)/bash-completion/completions
dist_completions_DATA = completion/wend completion/proxygen
zshcompletionsdir = $(datadir)/zsh/site-functions
dist_zshcompletions_DATA = completion/zsh/_wend
fishcompletionsdir = $(datadir)/fish/vendor_completions.d
dist_fishcompletions_DATA = completion/fish/wend.fish completion/fish/proxygen.fish
