/**
 * Serves the unsubscribe page of links in emails, and one-click unsubscribe requests of mailbox providers
 * (RFC 8058).
 */
import type { Clock } from '../../../lib/clock.ts'
import { type Id, parseWireId, sameId } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { type preferenceCommands, readPreferences } from '../../../pipeline/tracking/preferences.ts'
import { tokenOf } from '../../../pipeline/tracking/tokens.ts'
import { readUnsubscribeToken, type Subscription } from '../../../pipeline/tracking/unsubscribe-token.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { brokenLink } from '../recipients/broken-link.ts'
import { pageLanguage } from '../recipients/languages.ts'
import { recipientReply } from '../recipients/shell.ts'
import type { ApiRequest, Credential, RawHttpReply, Route } from '../route/route.ts'
import { CHOICES, type Choice, unsubscribePage } from './page.ts'

interface UnsubscribeRoutesOptions {
  secrets: SecretKeys
  store: { db: Db; run: Run<typeof preferenceCommands> }
  clock: Clock
}

type Visit = ApiRequest<Credential | null>

export function unsubscribeRoutes({ secrets, store, clock }: UnsubscribeRoutesOptions): Route[] {
  const subscriptionOf = ({ params }: Visit) => readUnsubscribeToken(secrets, tokenOf(params.token!))
  const show = async (
    { headers }: Visit,
    subscription: Subscription,
    done: Choice | undefined,
  ): Promise<RawHttpReply> => {
    const { address, topicId } = subscription
    const { languages, ...preferences } = await readPreferences(store.db, subscription)
    const topic = preferences.topics.find(({ id }) => topicId !== null && sameId(id, topicId))
    const language = pageLanguage(languages, headers['accept-language'])
    const page = unsubscribePage({ ...preferences, address, topic, done }, language.texts)
    return recipientReply(200, language, page)
  }
  return [
    {
      method: 'GET',
      path: '/u/:token',
      access: 'public',
      summary: 'Unsubscribe and preferences page; a GET changes nothing',
      replies: { 200: 'text/html' },
      async handle(request) {
        const subscription = subscriptionOf(request)
        return subscription ? show(request, subscription, undefined) : brokenLink(request)
      },
    },
    {
      method: 'POST',
      path: '/u/:token',
      access: 'public',
      // a withdrawal of consent must not be lost, and not every mailbox provider repeats a request
      whileReadOnly: true,
      summary: 'Unsubscribe by one click (`List-Unsubscribe=One-Click`, RFC 8058) or by the form of the page',
      replies: { 200: 'text/html' },
      async handle(request) {
        const subscription = subscriptionOf(request)
        if (!subscription) return brokenLink(request)
        const form = await request.form()
        const choice = choiceOf(form)
        await apply(choice, form, { ...subscription, at: clock.now() })
        return show(request, subscription, choice)
      },
    },
  ]

  async function apply(choice: Choice, form: URLSearchParams, change: Subscription & { at: number }) {
    if (choice === 'save') await store.run('setPreferences', { ...change, topics: topicsOf(form) })
    else if (choice === 'return') await store.run('takeBack', change)
    else await store.run('leave', { ...change, topicId: choice === 'leave-all' ? null : change.topicId })
  }
}

/**
 * A POST without a choice, as mailbox providers send it, unsubscribes from what the link is for.
 * @throws ApiError 422
 */
function choiceOf(form: URLSearchParams): Choice {
  const chosen = form.get('choice') ?? 'leave'
  const choice = CHOICES.find(each => each === chosen)
  if (choice) return choice
  throw invalidField('choice', `Invalid \`choice\` field: it must be one of ${CHOICES.join(', ')}.`)
}

/** @throws ApiError 422 */
function topicsOf(form: URLSearchParams): Id[] {
  return form.getAll('topic').map(text => {
    const id = parseWireId('top', text)
    if (id) return id
    throw invalidField('topic', 'Invalid `topic` field: it must be the id of a topic.')
  })
}
