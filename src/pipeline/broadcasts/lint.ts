/**
 * Finds faults of a broadcast's content that would break it for readers or make it look like spam. Pure. The
 * commands, not these rules, refuse a broadcast with `starter_text` or `unreachable_links`.
 */

import { shortened } from '../../lib/shortened.ts'
import { reachOf } from '../../protocols/dns/url-reach.ts'
import { htmlToText } from '../../protocols/mime/html/html-to-text.ts'
import { openTags, readHtml } from '../../protocols/mime/html/read-html.ts'
import { textPartOf } from '../../protocols/mime/html/text-part.ts'
import type { EmailText } from '../../resources/templates/compile.ts'
import { compileTemplate } from '../../resources/templates/compile.ts'
import { parseText } from '../../resources/templates/parse.ts'
import { unsupportedTag, unsupportedTags } from '../../resources/templates/unsupported.ts'
import { builtInOf, isAmong } from '../../resources/templates/variables.ts'
import { isStarter } from './starter.ts'
import { strayBraces } from './stray-braces.ts'
import { contentToSend } from './texts.ts'
import { mayBeKey } from './unusual-names.ts'

export const LINT_RULES = [
  'sender_domain',
  'missing_text',
  'missing_unsubscribe',
  'too_large',
  'empty_link',
  'malformed_link',
  'unsafe_link',
  'private_link',
  'placeholder_link',
  'unknown_variable',
  'stray_braces',
  'unsupported_tag',
  'foreign_tag',
  'starter_text',
  'unreachable_links',
  'weak_links',
  'tracked_few_words',
] as const
type LintRule = (typeof LINT_RULES)[number]

export const LINT_PARTS = ['from', 'subject', 'html', 'text', 'preview_text', 'links'] as const
type LintPart = (typeof LINT_PARTS)[number]

export interface LintFinding {
  rule: LintRule
  /** An `error` breaks the email for readers; a `warning` affects some of them. */
  severity: 'error' | 'warning'
  part: LintPart
  message: string
  /** Line in the part, from 1; null when the finding concerns the whole part. */
  line: number | null
}

/** Gmail clips an HTML part beyond this size. */
export const CLIPPED_AT_BYTES = 102 * 1024
/** Number of findings per rule; further ones are omitted. */
const FINDINGS_PER_RULE_MAX = 20
const SHOWN_LENGTH_MAX = 80
const PLACEHOLDER = /\{\{\{?[^{}]*\}?\}\}/
/** Matches hosts of samples, which belong to nobody or to somebody else (RFC 2606, section 3). */
const PLACEHOLDER_HOST = /^(?:.+\.)?(?:example\.(?:com|net|org)|your-?(?:domain|site|company)\.\w+)$/
const SCHEMES = ['http:', 'https:', 'mailto:', 'tel:', 'sms:']

interface Link {
  href: string
  at: number
}

/**
 * @param knownProperties are the property keys of the audience's contacts; undefined when they are not known
 * @param unusualKeys are keys that count as placeholders although they do not look like names
 */
export function lintBroadcast(
  { subject, html, text, previewText }: EmailText & { previewText: string | null },
  knownProperties?: ReadonlySet<string>,
  unusualKeys = knownProperties,
): LintFinding[] {
  const findings: LintFinding[] = []
  if (isStarter(html))
    findings.push({
      rule: 'starter_text',
      severity: 'error',
      part: 'html',
      line: null,
      message: 'The HTML is still the starter text. Replace it with your own content.',
    })
  if (html !== null && hasNoText({ html, text }))
    findings.push({
      rule: 'missing_text',
      severity: 'warning',
      part: 'text',
      line: null,
      message: `There is no text part${text === null ? ', and none can be derived from the HTML' : ''}. Some mail clients show nothing, and spam filters rate HTML-only mail worse.`,
    })
  const bytes = Buffer.byteLength(contentToSend({ html, text, previewText }).html ?? '')
  if (bytes > CLIPPED_AT_BYTES)
    findings.push({
      rule: 'too_large',
      severity: 'warning',
      part: 'html',
      line: null,
      message: `The HTML has ${Math.ceil(bytes / 1024)} KB${previewText === null ? '' : ' with its preview text'}. Gmail clips messages over 102 KB and hides the unsubscribe link.`,
    })
  if (!saysUnsubscribe({ html, text }))
    findings.push({
      rule: 'missing_unsubscribe',
      severity: 'warning',
      part: html === null ? 'text' : 'html',
      line: null,
      message:
        'There is no {{unsubscribe_url}}. Recipients who find no unsubscribe link report mail as spam.',
    })
  const ofLinks = html === null ? [] : linkFindings(html)
  const parts: Parts = [
    ['subject', subject],
    ['html', html],
    ['text', text],
    // the preview text is part of the HTML only
    ['preview_text', html === null ? null : previewText],
  ]
  const ofVariables = variableFindings(parts, knownProperties, unusualKeys)
  return atMostOfEach([
    ...findings,
    ...ofLinks,
    ...tagFindings(parts),
    ...ofVariables,
    ...braceFindings(parts),
  ])
}

/** SpamAssassin counts the pixel of open tracking as a picture, and HTML with fewer words as "image only". */
const WORDS_BESIDE_PIXEL_BYTES_MIN = 2_800
const SHOWN_URL = /\(https?:[^\s)]*\)/g

/** @returns a finding if the pixel makes the HTML look like a picture without words */
export function trackingFindings(html: string | null): LintFinding[] {
  const words = html === null ? undefined : htmlToText(html)
  if (words === undefined || Buffer.byteLength(words.replace(SHOWN_URL, '')) >= WORDS_BESIDE_PIXEL_BYTES_MIN)
    return []
  return [
    {
      rule: 'tracked_few_words',
      severity: 'warning',
      part: 'html',
      line: null,
      message: `Opens are counted, and the HTML has few words (less than ${WORDS_BESIDE_PIXEL_BYTES_MIN} bytes). Spam filters rate a short text with a picture, here the tracking pixel, as "image only".`,
    },
  ]
}

type Parts = readonly (readonly [LintPart, string | null])[]

/** A text that is not given is derived from the HTML when the broadcast is sent. */
function hasNoText({ html, text }: Omit<EmailText, 'subject'>): boolean {
  return text === null ? textPartOf(html ?? '') === undefined : text.trim() === ''
}

/** Tells whether the part that readers see has an unsubscribe link. */
export function saysUnsubscribe({ html, text }: Omit<EmailText, 'subject'>): boolean {
  const part = html ?? text
  if (part === null) return true
  return compileTemplate({ subject: null, html: null, text: part }).variables.some(
    ({ name }) => builtInOf(name) === 'unsubscribe_url',
  )
}

function linkFindings(html: string): LintFinding[] {
  const lineAt = lineFinder(html)
  return linksIn(html).flatMap(({ href, at }): LintFinding[] => {
    const fault = linkFault(href)
    return fault ? [{ ...fault, part: 'html', line: lineAt(at) }] : []
  })
}

/** A link of the HTML with the result of its check. */
export interface CheckedLink {
  url: string
  /** From 1. */
  line: number
  /** Null for a link without a fault. */
  message: string | null
}

/** Number of links that are listed; further ones are omitted. */
const LISTED_LINKS_MAX = 200

export function checkedLinks(html: string | null): CheckedLink[] {
  const lineAt = lineFinder(html ?? '')
  return linksIn(html ?? '')
    .slice(0, LISTED_LINKS_MAX)
    .map(({ href, at }) => ({ url: href, line: lineAt(at), message: linkFault(href)?.message ?? null }))
}

function linksIn(html: string): Link[] {
  const links: Link[] = []
  readHtml(
    html,
    openTags(html, ({ href, start }) => {
      if (href) links.push({ href: href.value, at: start })
    }),
  )
  return links
}

function linkFault(href: string): Pick<LintFinding, 'rule' | 'severity' | 'message'> | undefined {
  const shown = shortened(href, SHOWN_LENGTH_MAX)
  const trimmed = href.trim()
  if (trimmed === '' || trimmed === '#')
    return { rule: 'empty_link', severity: 'error', message: `A link has no target: ${quoted(shown)}.` }
  // the value of a placeholder is not known here
  if (trimmed.startsWith('#') || PLACEHOLDER.test(trimmed.slice(0, SHOWN_LENGTH_MAX * 10))) return undefined
  const url = URL.parse(trimmed)
  if (url && isWeb(url) && reachOf(trimmed) === 'loopback')
    return {
      rule: 'private_link',
      severity: 'error',
      message: `A link points to your own computer: ${quoted(shown)}.`,
    }
  // mail programs open other links, such as `mailto:`, even with blanks
  if (!url || (isWeb(url) && (!isHost(url.hostname) || /\s/.test(trimmed))))
    return {
      rule: 'malformed_link',
      severity: 'error',
      message: `A link is not a valid URL: ${quoted(shown)}.`,
    }
  const reach = isWeb(url) ? reachOf(trimmed) : undefined
  if (reach === 'private')
    return {
      rule: 'private_link',
      severity: 'warning',
      message: `A link has a private address, which recipients outside your network cannot open: ${quoted(shown)}.`,
    }
  if (!SCHEMES.includes(url.protocol))
    return {
      rule: 'unsafe_link',
      severity: 'error',
      message: `Mail clients do not open \`${url.protocol}\` links: ${quoted(shown)}.`,
    }
  if (isWeb(url) && PLACEHOLDER_HOST.test(url.hostname))
    return {
      rule: 'placeholder_link',
      severity: 'warning',
      message: `A link goes to a placeholder instead of a site: ${quoted(shown)}.`,
    }
  return undefined
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

/** A host needs a dot: readers cannot reach `https://example`. */
function isHost(name: string): boolean {
  return name.startsWith('[') || /[^.]\.[^.]/.test(name)
}

/** Tags that prevent sending, and those of other products, which are sent as they are. */
function tagFindings(parts: Parts): LintFinding[] {
  return parts.flatMap(([part, text]): LintFinding[] => {
    const lineAt = lineFinder(text ?? '')
    const unsupported = unsupportedTags(text ?? '', FINDINGS_PER_RULE_MAX).map(
      ({ fault, line }): LintFinding => ({
        rule: 'unsupported_tag',
        severity: 'error',
        part,
        message: `The ${part.replace('_', ' ')} ${fault}.`,
        line,
      }),
    )
    const foreign = foreignTags(text ?? '', FINDINGS_PER_RULE_MAX).map(
      ({ tag, at }): LintFinding => ({
        rule: 'foreign_tag',
        severity: 'warning',
        part,
        message: `${quoted(tag)} looks like a merge tag of another product, and is sent as it is. Placeholders are written {{first_name}}.`,
        line: lineAt(at),
      }),
    )
    return [...unsupported, ...foreign]
  })
}

function braceFindings(parts: Parts): LintFinding[] {
  return parts.flatMap(([part, text]) =>
    strayBraces(text ?? '', part === 'html', FINDINGS_PER_RULE_MAX).map((around): LintFinding => {
      const message = `Braces that are not a placeholder are sent as they are: ${quoted(shortened(around, SHOWN_LENGTH_MAX))}.`
      return { rule: 'stray_braces', severity: 'warning', part, message, line: null }
    }),
  )
}

function variableFindings(
  parts: Parts,
  known: ReadonlySet<string> | undefined,
  unusualKeys: ReadonlySet<string> | undefined,
): LintFinding[] {
  if (!known || !unusualKeys) return []
  const seen = new Set<string>()
  return parts.flatMap(([part, text]) =>
    parseText(text ?? '', mayBeKey).placeholders.flatMap(({ name, fallback, verbatim }): LintFinding[] => {
      const isPlaceholder = !verbatim || isAmong(unusualKeys, name)
      const isFine = isPlaceholder && (fallback !== null || builtInOf(name) || isAmong(known, name))
      if (isFine || seen.has(name)) return []
      // tags that prevent sending are reported as such
      if (unsupportedTag(`{{${name}}}`)) return []
      seen.add(name)
      const end = isPlaceholder
        ? 'and there is no fallback, so it will be blank.'
        : 'and it is no name, so it is sent as it is, with its braces.'
      const message = `No contact has ${quoted(shortened(name, SHOWN_LENGTH_MAX))} ${end}`
      return [{ rule: 'unknown_variable', severity: 'warning', part, message, line: null }]
    }),
  )
}

/** Returns the first findings of each rule. */
function atMostOfEach(findings: readonly LintFinding[]): LintFinding[] {
  const counts = new Map<LintRule, number>()
  return findings.filter(({ rule }) => {
    const count = (counts.get(rule) ?? 0) + 1
    counts.set(rule, count)
    return count <= FINDINGS_PER_RULE_MAX
  })
}

/** Returns the line of a position. Positions must be ascending. */
function lineFinder(text: string): (at: number) => number {
  let line = 1
  let next = text.indexOf('\n')
  return at => {
    for (; next >= 0 && next < at; next = text.indexOf('\n', next + 1)) line++
    return line
  }
}

function quoted(text: string): string {
  return `“${text}”`
}

/**
 * Merge tags of other mail products, which readers would see as they are, such as `*|FNAME|*`, `[[name]]`,
 * `[%first_name%]`, `%%first_name%%` and `%FIRSTNAME%`.
 */
const FOREIGN_TAG = new RegExp(
  [
    String.raw`\*\|[\w:. ]{1,60}\|\*`,
    String.raw`\[\[\s?[\p{L}_][\p{L}\p{N}_.: -]{0,60}\]\]`,
    String.raw`\[%[^%\]\n]{1,60}%\]`,
    String.raw`%%[\p{L}_][\p{L}\p{N}_.]{0,60}%%`,
    // two hexadecimal digits behind the second `%` are a character of a URL
    '%[A-Z][A-Z0-9_]{2,60}%(?![0-9A-Fa-f]{2})',
    String.raw`%[a-z]{1,20}\.[a-z_]{1,40}%`,
  ].join('|'),
  'gu',
)

/** Returns the first tags, each once, with their positions in ascending order. */
function foreignTags(text: string, tagsMax: number): { tag: string; at: number }[] {
  const found = new Map<string, number>()
  for (const { 0: tag, index } of text.matchAll(FOREIGN_TAG)) {
    if (!found.has(tag)) found.set(tag, index)
    if (found.size === tagsMax) break
  }
  return [...found].map(([tag, at]) => ({ tag, at }))
}
