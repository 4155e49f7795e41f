#!/usr/bin/env bash
# What a newcomer does, on a clone of HEAD: npm start, then the printed curl line; delivered within 5 seconds.
# Prints "1 passed, 0 failed" or "0 passed, 1 failed".
set -uo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
log=$work/log
pid=
finish() {
  [ -n "$pid" ] && kill -TERM -- "-$pid" 2>/dev/null && wait "$pid" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
fail() {
  echo "smoke: $1"
  sed 's/^/     /' "$log"
  echo "0 passed, 1 failed"
  exit 1
}

git clone -q . "$work/clone" || fail 'the clone failed'
cd "$work/clone"
MAILHORN_HTTP_LISTEN=127.0.0.1:3973 MAILHORN_DNS_LISTEN=127.0.0.1:5373 MAILHORN_SMTP_INBOUND_LISTEN= MAILHORN_SMTP_SUBMISSION_LISTEN= MAILHORN_SMTP_SUBMISSION_TLS_LISTEN= setsid npm start >"$log" 2>&1 &
pid=$!
for _ in $(seq 1200); do
  grep -q '"msg":"ready"' "$log" && break
  kill -0 "$pid" 2>/dev/null || fail 'npm start ended'
  sleep 0.1
done
line=$(grep -E '^ +curl ' "$log") || fail 'no curl line was printed'
key=$(grep -Eo 're_[0-9A-Za-z]+' "$log" | head -1)
id=$(eval "$line" | grep -Eo 'eml_[0-9a-f-]+') || fail 'the printed curl line was not answered with an id'
for _ in $(seq 50); do
  status=$(curl -s "http://127.0.0.1:3973/emails/$id" -H "Authorization: Bearer $key" | grep -Eo '"status":"[a-z_]+"' | head -1)
  if [ "$status" = '"status":"delivered"' ]; then
    echo 'ok   fresh clone: npm start, then the printed curl line'
    echo '1 passed, 0 failed'
    exit 0
  fi
  sleep 0.1
done
fail "the first email is $status after 5 seconds"
