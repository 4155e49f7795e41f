/** Recognizes the SDKs by their `User-Agent`. */
import type { IncomingHttpHeaders } from 'node:http'

/**
 * Matches `resend-node:6.38.0`, `resend-python:2.39.0`, `resend-ruby:1.10.0`, `resend-go/3.12.0`,
 * `resend-php/1.10.0`, `resend-java/4.20.0`, `resend-rs/0.31.0`, `resend-sdk/0.11.0 dotnet/9.0`, and the
 * names of programs that are built on these SDKs.
 */
const SDK_AGENT = /^resend-[a-z]/i

export function isSdk(headers: IncomingHttpHeaders): boolean {
  return SDK_AGENT.test(headers['user-agent'] ?? '')
}
