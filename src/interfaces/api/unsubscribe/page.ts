/** Unsubscribe and preferences page: plain HTML without scripts, with every text escaped. */
import { hash } from 'node:crypto'
import { wireId } from '../../../lib/ids.ts'
import type { Preferences, TopicPreference } from '../../../pipeline/tracking/preferences.ts'
import { escapeHtml } from '../../../resources/templates/escape-html.ts'

/** Colours and sizes are those of the dashboard (`dashboard/web/styles/tokens.css`). */
const STYLE = `
:root { --paper: #faf8f3; --surface: #fffefb; --line: #e5dfd1; --ink: #1d1a14; --ink-2: #575142; --brass: #f2b90c; --on-brass: #1d1a14; --good: #1c7047; --good-soft: #e2f1e7; color-scheme: light; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15130e; --surface: #1d1a14; --line: #322d22; --ink: #f3eee1; --ink-2: #c2b9a4; --good: #6fce9b; --good-soft: #14301f; color-scheme: dark; }
}
body { margin: 0; font: 1rem/1.5 Geist, system-ui, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 34em; margin: 8vh auto; padding: 24px 32px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; }
h1 { margin: 0 0 12px; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 32px 0 8px; font-size: 1.25rem; }
p, label { overflow-wrap: anywhere; }
.done { padding: 12px 16px; color: var(--good); background: var(--good-soft); border-radius: 5px; }
fieldset { margin: 0 0 16px; padding: 0; border: 0; }
label { display: block; padding: 8px 0; }
small { display: block; margin-left: 32px; color: var(--ink-2); }
button { margin: 4px 8px 4px 0; padding: 8px 16px; font: inherit; color: var(--on-brass); background: var(--brass); border: 1px solid var(--brass); border-radius: 5px; cursor: pointer; }
button.other { color: var(--ink); background: none; border-color: var(--line); }
:focus-visible { outline: 3px solid var(--brass); outline-offset: 2px; }
`

export const UNSUBSCRIBE_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'x-content-type-options': 'nosniff',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
} as const

/**
 * Actions of the forms: unsubscribe from the topic of the link, from everything, or save the selected topics.
 */
export const CHOICES = ['leave', 'leave-all', 'save'] as const
export type Choice = (typeof CHOICES)[number]

interface UnsubscribePage extends Preferences {
  address: string
  /** Topic of the link; undefined for a link without a topic, or when the topic was deleted. */
  topic: TopicPreference | undefined
  /** Action that was just performed. */
  done: Choice | undefined
}

export function unsubscribePage(page: UnsubscribePage): string {
  const { senderName, topic } = page
  const from = senderName === undefined ? 'this sender' : escapeHtml(senderName)
  const title = topic ? `Emails about ${escapeHtml(topic.name)}` : `Emails from ${from}`
  const parts = [notice(page, from), leaving(page), choosing(page)]
  return (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">' +
    `<title>${title}</title><meta name="viewport" content="width=device-width, initial-scale=1">` +
    `<meta name="robots" content="noindex, nofollow"><style>${STYLE}</style></head>` +
    `<body><main><h1>${title}</h1>${parts.join('')}</main></body></html>\n`
  )
}

function address({ address: text }: UnsubscribePage): string {
  return `<strong>${escapeHtml(text)}</strong>`
}

/** Shows the current subscription, and whether it has just changed. */
function notice(page: UnsubscribePage, from: string): string {
  const { done, topic, isUnsubscribed } = page
  const statusText = (text: string) => `<p class="done" role="status">${text}</p>`
  if (isUnsubscribed) return statusText(`${address(page)} is unsubscribed from all emails of ${from}.`)
  if (topic && !topic.isWanted)
    return statusText(`${address(page)} is unsubscribed from emails about ${escapeHtml(topic.name)}.`)
  if (done === 'save') return statusText('Your preferences were saved.')
  return `<p>You receive emails ${topic ? `about ${escapeHtml(topic.name)} ` : ''}from ${from} at ${address(page)}.</p>`
}

function leaving({ topic, isUnsubscribed }: UnsubscribePage): string {
  const fromTopic =
    topic?.isWanted && !isUnsubscribed ? button('leave', `Unsubscribe from ${escapeHtml(topic.name)}`) : ''
  const fromAll = isUnsubscribed ? '' : button('leave-all', 'Unsubscribe from all', fromTopic !== '')
  return fromTopic || fromAll ? form(fromTopic + fromAll) : ''
}

function choosing({ topics, isUnsubscribed }: UnsubscribePage): string {
  if (topics.length === 0) return isUnsubscribed ? form(button('save', 'Subscribe again', true)) : ''
  const boxes = topics.map(({ id, name, description, isWanted }, index) => {
    const about =
      description === null || description === ''
        ? ''
        : `<small id="t${index}">${escapeHtml(description)}</small>`
    const described = about === '' ? '' : ` aria-describedby="t${index}"`
    const checked = isWanted && !isUnsubscribed ? ' checked' : ''
    return (
      `<label><input type="checkbox" name="topic" value="${wireId('top', id)}"${checked}${described}> ` +
      `${escapeHtml(name)}</label>${about}`
    )
  })
  const question = isUnsubscribed
    ? '<h2 id="topics">Subscribe again</h2><p>Select topics to subscribe to. Without a selection you stay unsubscribed.</p>'
    : '<h2 id="topics">Or choose your topics</h2>'
  return (
    question +
    form(`<fieldset aria-labelledby="topics">${boxes.join('')}</fieldset>${button('save', 'Save', true)}`)
  )
}

function form(content: string): string {
  return `<form method="post">${content}</form>`
}

function button(choice: Choice, text: string, isOther = false): string {
  return `<button name="choice" value="${choice}"${isOther ? ' class="other"' : ''}>${text}</button>`
}
