/**
 * Who follows links without a person behind it, by user agent. Written by ourselves, from what the operators
 * of these programs say of them, and from what others have met; a name that is missing is taken for a person.
 */

import type { IncomingHttpHeaders } from 'node:http'

interface KnownVisitor {
  name: string
  /**
   * `proxy`: fetches pictures for a person who is looking at them. `machine`: nobody is looking: prefetching,
   * checks, previews, crawlers, programs.
   */
  kind: 'proxy' | 'machine'
  userAgent: RegExp
  /** Where its user agent is told of. */
  source: string
}

/** The first that fits. */
const KNOWN_VISITORS: readonly KnownVisitor[] = [
  // Mail programs' own servers
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
    // Fetches all pictures in the background, read or not, and says nothing else of itself
    name: 'apple-mail-privacy',
    kind: 'machine',
    userAgent: /^Mozilla\/5\.0$/,
    source: 'https://help.socketlabs.com/docs/identifying-apple-mpp-opens-in-notification-api-events',
  },

  // Checks of links on the way, and of links that are shown
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

  // Everything that says that it is no browser
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
  /** As it was said, cut; empty where nothing was. */
  userAgent: string
  /** What a machine is known by; null where a person may be behind it. */
  machine: string | null
  /** A proxy through which a person looks; null where there is none that is known. */
  proxy: string | null
}

const USER_AGENT_LENGTH_MAX = 512
/** Browsers and proxies that fetch what a person may want next say so. */
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
