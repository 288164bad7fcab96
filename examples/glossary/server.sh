#!/bin/sh
# A server of the Model Context Protocol: a JSON message a line, requests on standard input, replies
# on standard output. Its one tool looks a word up in the file that $WORDS names.
#
# A server of more than a tool is better written with one of the protocol's libraries. This one is a
# shell script so that the example needs nothing that is not there, and it reads no more JSON than
# the requests it gets.

field() {
  printf '%s\n' "$message" | sed -n "s/.*\"$1\":$2.*/\\1/p"
}

reply() {
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$(field id '\([0-9]*\)')" "$1"
}

text() {
  reply "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}],\"isError\":$2}"
}

while IFS= read -r message; do
  case $message in
  *'"method":"initialize"'*)
    reply '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"glossary","version":"1"}}'
    ;;
  *'"method":"tools/list"'*)
    reply '{"tools":[{"name":"define","description":"Says what a word means.","inputSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}]}'
    ;;
  *'"method":"tools/call"'*)
    word=$(field word '"\([a-z]*\)"')
    meaning=$(sed -n "s/^${word:-?}: //p" "$WORDS")
    if [ "$meaning" ]; then
      text "$meaning" false
    else
      text 'this word is not in the glossary' true
    fi
    ;;
  esac
done
