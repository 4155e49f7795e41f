/**
 * Who follows links without a person behind it, by user agent. Written by ourselves, from what the operators
 * of these programs say of them, and from what others have met; a name that is missing is taken for a person.
 */

export interface KnownVisitor {
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
export const KNOWN_VISITORS: readonly KnownVisitor[] = [
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
