/** Unsubscribe and preferences page. Every text is escaped. */
import { wireId } from '../../../lib/ids.ts'
import type { Preferences, TopicPreference } from '../../../pipeline/tracking/preferences.ts'
import { escapeHtml } from '../../../resources/templates/escape-html.ts'
import type { RecipientPage } from '../recipients/shell.ts'
import type { PageTexts } from '../recipients/texts/texts.ts'

/**
 * Actions of the forms: unsubscribe from the topic of the link, from everything, save the selected topics, or
 * take an unsubscription back.
 */
export const CHOICES = ['leave', 'leave-all', 'save', 'return'] as const
export type Choice = (typeof CHOICES)[number]

interface UnsubscribePage extends Omit<Preferences, 'languages'> {
  address: string
  /** Topic of the link; undefined for a link without a topic, or when the topic was deleted. */
  topic: TopicPreference | undefined
  /** Action that was just performed. */
  done: Choice | undefined
}

/** The page with its texts and its names as HTML. */
interface Worded extends UnsubscribePage {
  texts: PageTexts
  addressHtml: string
  senderHtml: string
  topicHtml: string
}

export function unsubscribePage(page: UnsubscribePage, texts: PageTexts): RecipientPage {
  const { sender, topic } = page
  const worded = {
    ...page,
    texts,
    addressHtml: `<strong>${escapeHtml(page.address)}</strong>`,
    senderHtml: texts.sender(sender.name === undefined ? undefined : escapeHtml(sender.name)),
    topicHtml: escapeHtml(topic?.name ?? ''),
  }
  return {
    sender,
    title: topic ? texts.emailsAbout(worded.topicHtml) : texts.emailsFrom(worded.senderHtml),
    content: notice(worded) + choices(worded) + topics(worded),
  }
}

/** Shows the current subscription, and whether it has just changed. */
function notice({ done, topic, isUnsubscribed, texts, addressHtml, senderHtml, topicHtml }: Worded): string {
  const status = (text: string) => `<p class="done" role="status">${text}</p>`
  if (isUnsubscribed) return status(texts.leftAll(addressHtml, senderHtml))
  if (topic && !topic.isWanted) return status(texts.leftTopic(addressHtml, topicHtml))
  if (done === 'save') return status(texts.saved)
  const receives = topic
    ? texts.receivesAbout(addressHtml, senderHtml, topicHtml)
    : texts.receives(addressHtml, senderHtml)
  return `${done === 'return' ? status(texts.subscribedAgain) : ''}<p>${receives}</p>`
}

function choices({ topic, isUnsubscribed, texts, topicHtml }: Worded): string {
  const back = button('return', texts.subscribeAgain, true)
  if (isUnsubscribed) return form(back)
  if (topic && !topic.isWanted) return form(back + button('leave-all', texts.leaveAll, true))
  const fromTopic = topic ? button('leave', texts.leaveTopic(topicHtml)) : ''
  return form(fromTopic + button('leave-all', texts.leaveAll, fromTopic !== ''))
}

function topics({ topics, isUnsubscribed, texts }: Worded): string {
  if (topics.length === 0) return ''
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
  return (
    `<h2 id="topics">${texts.chooseTopics}</h2>` +
    (isUnsubscribed ? `<p>${texts.selectToReturn}</p>` : '') +
    form(`<fieldset aria-labelledby="topics">${boxes.join('')}</fieldset>${button('save', texts.save, true)}`)
  )
}

function form(content: string): string {
  return `<form method="post">${content}</form>`
}

function button(choice: Choice, text: string, isOther = false): string {
  return `<button name="choice" value="${choice}"${isOther ? ' class="other"' : ''}>${text}</button>`
}
