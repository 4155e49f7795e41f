/** Makes topics, and says which subscriptions an import of contacts has to set. */
import * as z from 'zod'
import { DESCRIPTION_CHARACTERS_MAX, NAME_CHARACTERS_MAX } from '../../../resources/contacts/limits.ts'
import { printable } from '../control/result.ts'
import { byCursor } from './api.ts'
import type { WriterOptions } from './report.ts'
import type { SourceContact, SourceTopic, TopicChoice } from './shapes.ts'

const choiceSchema = z.enum(['opt_in', 'opt_out'])
const topicSchema = z.object({ id: z.string(), name: z.string(), default_subscription: choiceSchema })

/** Topic of the service that stands for one of the provider. */
interface WrittenTopic {
  /** Null while the topic is only to be made. */
  id: string | null
  default: TopicChoice
  source: SourceTopic
}

export type WrittenTopics = readonly WrittenTopic[]

/** Subscription as the import of the service takes it. */
interface Subscription {
  id: string
  subscription: TopicChoice
}

/** Returns a function that finds topics by their name, and makes those that are missing. */
export function createTopicWriter({ service, report, isDryRun }: WriterOptions) {
  const kind = report.of('contacts')
  const there = new Map<string, Omit<WrittenTopic, 'source'>>()
  let areKnown = false

  return async (topics: readonly SourceTopic[]): Promise<WrittenTopics> => {
    if (!areKnown)
      for await (const page of byCursor(service, '/topics', topicSchema))
        for (const { id, name, default_subscription } of page)
          there.set(name, { id, default: default_subscription })
    areKnown = true
    const written: WrittenTopic[] = []
    for (const source of topics) {
      const name = printable(source.name).trim().slice(0, NAME_CHARACTERS_MAX) || 'Unnamed'
      const former = there.get(name)
      const topic = former ?? { id: await makeTopic(name, source), default: source.default }
      if (!former) kind.notes.push(`new topic ${name}`)
      there.set(name, topic)
      written.push({ ...topic, source })
    }
    return written
  }

  async function makeTopic(name: string, { description, default: choice }: SourceTopic) {
    if (isDryRun) return null
    const body = {
      name,
      default_subscription: choice,
      visibility: 'public',
      ...(description && { description: description.slice(0, DESCRIPTION_CHARACTERS_MAX) }),
    }
    return (await service.send(topicSchema, 'POST', '/topics', body)).id
  }
}

/**
 * Groups contacts by the subscriptions that they need beside the defaults of the topics. Who has left a topic
 * has this choice set in any case, so that it stays when the contact had subscribed here.
 */
export function bySubscriptions(
  topics: WrittenTopics,
  contacts: readonly SourceContact[],
): [subscriptions: readonly Subscription[], contacts: readonly SourceContact[]][] {
  const groups = new Map<string, [Subscription[], SourceContact[]]>()
  for (const contact of contacts) {
    const subscriptions = topics.flatMap(({ id, default: usual, source }) => {
      const choice = contact.topics?.get(source.name)
      const subscription = choice ?? source.default
      return id !== null && (choice === 'opt_out' || subscription !== usual) ? [{ id, subscription }] : []
    })
    const key = JSON.stringify(subscriptions)
    const group = groups.get(key) ?? [subscriptions, []]
    group[1].push(contact)
    groups.set(key, group)
  }
  return [...groups.values()]
}
