/**
 * Tells people from programs that open pixels and follow links, by user agent and request headers. The table
 * is compiled from what the operators of these programs and others have published. An unknown program counts
 * as a person.
 */

import type { IncomingHttpHeaders } from 'node:http'

interface KnownVisitor {
  name: string
  /** A `proxy` fetches images for a person who reads the email. A `machine` fetches without a reader. */
  kind: 'proxy' | 'machine'
  userAgent: RegExp
  /** Reference for the user agent. */
  source: string
}

/** The first match applies. */
const KNOWN_VISITORS: readonly KnownVisitor[] = [
  // servers of mail programs
  {
    name: 'gmail-sampling',
    kind: 'machine',
    userAgent: /Gmail-content-sampling/,
    source: 'https://github.com/mssola/user_agent/issues/71',
  },
  {
    name: 'gmail-proxy',
    kind: 'proxy',
    userAgent: /GoogleImageProxy|via ggpht\.com/,
    source: 'https://github.com/ua-parser/uap-core/pull/170',
  },
  {
    name: 'yahoo-proxy',
    kind: 'proxy',
    userAgent: /YahooMailProxy/,
    source: 'https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  },
  {
    // prefetches all images, whether the email is read or not, with this bare user agent
    name: 'apple-mail-privacy',
    kind: 'machine',
    userAgent: /^Mozilla\/5\.0$/,
    source: 'https://help.socketlabs.com/docs/identifying-apple-mpp-opens-in-notification-api-events',
  },

  // link checkers and link previews
  {
    name: 'microsoft-office-check',
    kind: 'machine',
    userAgent:
      /Microsoft Office Existence Discovery|ms-office; MSOffice.*Discovery|SkypeUriPreview|BingPreview/,
    source:
      'https://learn.microsoft.com/office/troubleshoot/office-suite-issues/click-hyperlink-to-sso-website',
  },
  {
    name: 'mail-filter',
    kind: 'machine',
    userAgent:
      /Barracuda|Proofpoint|Mimecast|Symantec|MessageLabs|Sophos|TrendMicro|FortiGuard|Cisco-?IronPort|Zscaler/i,
    source: 'products name themselves',
  },
  {
    name: 'link-preview',
    kind: 'machine',
    userAgent:
      /facebookexternalhit|Slackbot|Twitterbot|LinkedInBot|WhatsApp\/|TelegramBot|Discordbot|Google-PageRenderer|Iframely|Embedly/i,
    source: 'products name themselves',
  },

  // programs that identify themselves
  {
    name: 'crawler',
    kind: 'machine',
    userAgent:
      /(?<!cu)bot\b|crawl|spider|slurp|scan(?:ner|ning)?\b|preview|monitor|validator|HeadlessChrome|PhantomJS/i,
    source: 'crawlers name themselves',
  },
  {
    name: 'program',
    kind: 'machine',
    userAgent:
      /^(?:curl|Wget|python|Go-http-client|Java|okhttp|Apache-HttpClient|libwww-perl|Ruby|PHP|node|axios|undici|Dart|aiohttp)\b/i,
    source: 'libraries name themselves',
  },
]

export interface Visitor {
  ipAddress: string
  /** `User-Agent` header, truncated; empty when absent. */
  userAgent: string
  /** Reason that the visitor counts as a machine; null for a person. */
  machine: string | null
  /** Name of a known image proxy; null otherwise. */
  proxy: string | null
}

const USER_AGENT_LENGTH_MAX = 512
/** Headers by which browsers and proxies announce a prefetch. */
const PREFETCHING = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'] as const
const PREFETCH = /prefetch|prerender|preview/i

export function visitorOf(method: string, headers: IncomingHttpHeaders, ipAddress: string): Visitor {
  const userAgent = (headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH_MAX)
  const known = KNOWN_VISITORS.find(visitor => visitor.userAgent.test(userAgent))
  return {
    ipAddress,
    userAgent,
    machine: machineOf(method, headers, userAgent) ?? (known?.kind === 'machine' ? known.name : null),
    proxy: known?.kind === 'proxy' ? known.name : null,
  }
}

function machineOf(method: string, headers: IncomingHttpHeaders, userAgent: string): string | undefined {
  if (method === 'HEAD') return 'head-request'
  if (PREFETCHING.some(name => PREFETCH.test(String(headers[name] ?? '')))) return 'prefetch'
  return userAgent === '' ? 'no-user-agent' : undefined
}
