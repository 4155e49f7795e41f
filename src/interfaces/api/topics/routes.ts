/** Serves the topics of the account, which contacts subscribe to and unsubscribe from. */

import type { Clock } from '../../../lib/clock.ts'
import { type IdSource, wireId } from '../../../lib/ids.ts'
import { TOPICS_MAX } from '../../../resources/contacts/limits.ts'
import { findTopic, listTopics } from '../../../resources/contacts/read.ts'
import type { topicCommands } from '../../../resources/contacts/topic-commands.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { ApiError, invalidField, orNotFound } from '../api-error.ts'
import { type ApiRequest, created, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  newTopicSchema,
  readTopic,
  readTopicChanges,
  topicChangesSchema,
  topicSchema,
  topicView,
} from './schema.ts'

interface TopicRoutesOptions {
  store: { db: Db; run: Run<typeof topicCommands> }
  clock: Clock
  newId: IdSource
}

export function topicRoutes({ store, clock, newId }: TopicRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/topics',
      access: 'session',
      summary: 'Create a topic',
      body: newTopicSchema,
      replies: { 201: topicSchema },
      async handle({ credential: { accountId }, ...request }) {
        const fields = readTopic(await request.body())
        const at = clock.now()
        const topic = await store.run('createTopic', { accountId, id: newId(at), fields, at })
        if (!topic)
          throw new ApiError(422, 'validation_error', `An account may have at most ${TOPICS_MAX} topics.`)
        return created(topicView(topic))
      },
    },
    {
      method: 'GET',
      path: '/topics',
      access: 'session',
      summary: 'List topics',
      query: cursorPageQuery('top'),
      replies: { 200: listSchema(topicSchema) },
      async handle({ query, credential: { accountId } }) {
        const page = readCursorPage(query, 'top', 'a topic')
        return pageReply(await listTopics(store.db, accountId, page), topicView)
      },
    },
    ...topicObjectRoutes(store, clock),
  ]
}

function topicObjectRoutes(store: TopicRoutesOptions['store'], clock: Clock): Route[] {
  return [
    {
      method: 'GET',
      path: '/topics/:id',
      access: 'session',
      summary: 'Retrieve a topic',
      replies: { 200: topicSchema },
      async handle(request) {
        return ok(topicView(await topicOf(store.db, request)))
      },
    },
    {
      method: 'PATCH',
      path: '/topics/:id',
      access: 'session',
      summary: 'Update the name, the description or the visibility of a topic',
      body: topicChangesSchema,
      emptyRemoves: ['description'],
      replies: { 200: topicSchema },
      async handle(request) {
        const { id, accountId, defaultSubscription: former } = await topicOf(store.db, request)
        const { defaultSubscription, ...changes } = readTopicChanges(await request.body())
        if (defaultSubscription && defaultSubscription !== former)
          throw invalidField(
            'default_subscription',
            '`default_subscription` cannot be changed after a topic is created.',
          )
        const topic = orNotFound(
          await store.run('changeTopic', { accountId, id, changes, at: clock.now() }),
          'Topic',
        )
        return ok(topicView(topic))
      },
    },
    {
      method: 'DELETE',
      path: '/topics/:id',
      access: 'session',
      summary: 'Delete a topic and the subscriptions of contacts to it',
      replies: { 200: deletedSchema('topic', 'top') },
      async handle(request) {
        const id = pathId(request, 'top')
        const { accountId } = request.credential
        orNotFound(await store.run('deleteTopic', { accountId, id, at: clock.now() }), 'Topic')
        return ok({ object: 'topic', id: wireId('top', id), deleted: true })
      },
    },
  ]
}

/** @throws ApiError 404 */
async function topicOf(db: Db, request: ApiRequest) {
  const id = pathId(request, 'top')
  return orNotFound(await findTopic(db, request.credential.accountId, id), 'Topic')
}
