/** Serves webhooks (create, list, update, delete, test) and their deliveries. */
import { type Id, wireId } from '../../../lib/ids.ts'
import { type RequestedDelivery, WEBHOOKS_MAX } from '../../../pipeline/webhooks/commands.ts'
import type { ListedDelivery } from '../../../pipeline/webhooks/webhook-rows.ts'
import type { Webhooks } from '../../../pipeline/webhooks/webhooks.ts'
import { isSdk } from '../../../resources/compat/sdks.ts'
import { typedClientOf } from '../../../resources/compat/typed-clients.ts'
import { ApiError, fieldNotFound, notFound, orNotFound } from '../api-error.ts'
import { type ApiRequest, created, listReply, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { withWarnings } from '../route/warnings.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  changedWebhookSchema,
  newWebhookSchema,
  readNewWebhook,
  readTestType,
  readWebhookChange,
  warningsOf,
  webhookChangeQuery,
  webhookChangeSchema,
  webhookDeliverySchema,
  webhookDeliveryView,
  webhookSchema,
  webhookTestSchema,
  webhookView,
  webhookWithSecretSchema,
} from './schema.ts'

interface WebhookRoutesOptions {
  webhooks: Webhooks
  mailHost: string
}

export function webhookRoutes({ webhooks, mailHost }: WebhookRoutesOptions): Route[] {
  return [...listRoutes(webhooks), ...objectRoutes(webhooks), ...deliveryRoutes(webhooks, mailHost)]
}

function listRoutes(webhooks: Webhooks): Route[] {
  return [
    {
      method: 'POST',
      path: '/webhooks',
      access: 'session',
      summary: 'Create a webhook; the reply contains its signing secret',
      body: newWebhookSchema,
      replies: { 201: webhookWithSecretSchema },
      async handle(request) {
        const { headers, credential } = request
        const wanted = readNewWebhook(await request.body(), webhooks.faultIn)
        const made = await webhooks.create(credential.accountId, {
          ...wanted,
          // its own `verify` reads no other signature
          isStandard: wanted.isStandard ?? (isSdk(headers) ? true : undefined),
          dialect: typedClientOf(headers)?.dialect ?? null,
        })
        if (made === 'no-domain') throw fieldNotFound('domain_ids', 'Domain')
        if (made === 'too-many')
          throw new ApiError(422, 'validation_error', `An account may have at most ${WEBHOOKS_MAX} webhooks.`)
        const { webhook, signingSecret } = made
        const view = { ...webhookView(webhook), signing_secret: signingSecret }
        return created(withWarnings(view, warningsOf(webhook)))
      },
    },
    {
      method: 'GET',
      path: '/webhooks',
      access: 'session',
      summary: 'List webhooks, newest first',
      query: cursorPageQuery('wh', WEBHOOKS_MAX),
      replies: { 200: listSchema(webhookSchema) },
      async handle({ query, credential: { accountId } }) {
        const page = readCursorPage(query, 'wh', 'a webhook', WEBHOOKS_MAX)
        return pageReply(await webhooks.list(accountId, page), webhookView)
      },
    },
  ]
}

function objectRoutes(webhooks: Webhooks): Route[] {
  return [
    {
      method: 'GET',
      path: '/webhooks/:id',
      access: 'session',
      summary: 'Retrieve a webhook',
      replies: { 200: webhookSchema },
      async handle(request) {
        const webhook = await webhooks.find(request.credential.accountId, pathId(request, 'wh'))
        return ok(webhookView(orNotFound(webhook, 'Webhook')))
      },
    },
    {
      method: 'PATCH',
      path: '/webhooks/:id',
      access: 'session',
      summary: 'Update, enable or disable a webhook',
      query: webhookChangeQuery,
      body: webhookChangeSchema,
      emptyRemoves: ['domain_ids'],
      replies: { 200: changedWebhookSchema },
      async handle(request) {
        const id = pathId(request, 'wh')
        const change = readWebhookChange(await request.body(), request.query, webhooks.faultIn)
        const webhook = orNotFound(await webhooks.change(request.credential.accountId, id, change), 'Webhook')
        if (webhook === 'no-domain') throw fieldNotFound('domain_ids', 'Domain')
        return ok(withWarnings(webhookView(webhook), warningsOf(webhook)))
      },
    },
    {
      method: 'DELETE',
      path: '/webhooks/:id',
      access: 'session',
      summary: 'Delete a webhook and its pending deliveries',
      replies: { 200: deletedSchema('webhook', 'wh') },
      async handle(request) {
        const id = pathId(request, 'wh')
        orNotFound(await webhooks.delete(request.credential.accountId, id), 'Webhook')
        return ok({ object: 'webhook', id: wireId('wh', id), deleted: true })
      },
    },
    // the SDKs use the second spelling
    ...['/webhooks/:id/rotate-secret', '/webhooks/:id/signing-secret/rotate'].map(
      (path): Route => rotateRoute(webhooks, path),
    ),
  ]
}

const CUT_OFF = {
  path: 'signing_secret',
  message:
    'Three rotations within 24 hours: only the two previous secrets still sign. Receivers that have an older one refuse events from now on.',
}

function rotateRoute(webhooks: Webhooks, path: string): Route {
  return {
    method: 'POST',
    path,
    access: 'session',
    summary: 'Rotate the signing secret of a webhook; the previous two secrets also sign for 24 hours',
    replies: { 200: webhookWithSecretSchema },
    async handle(request) {
      const rotated = await webhooks.rotateSecret(request.credential.accountId, pathId(request, 'wh'))
      const { webhook, signingSecret, isCutOff } = orNotFound(rotated, 'Webhook')
      const view = { ...webhookView(webhook), signing_secret: signingSecret }
      return ok(withWarnings(view, isCutOff ? [CUT_OFF] : []))
    },
  }
}

function deliveryRoutes(webhooks: Webhooks, mailHost: string): Route[] {
  const viewer = async ({ credential: { accountId } }: ApiRequest, id: Id) => {
    const signing = orNotFound(await webhooks.signing(accountId, id), 'Webhook')
    return (row: ListedDelivery) => webhookDeliveryView(row, mailHost, signing)
  }
  return [
    {
      method: 'GET',
      path: '/webhooks/:id/deliveries',
      access: 'session',
      summary: 'List the 50 most recent deliveries',
      replies: { 200: listSchema(webhookDeliverySchema) },
      async handle(request) {
        const id = pathId(request, 'wh')
        const rows = orNotFound(await webhooks.deliveries(request.credential.accountId, id), 'Webhook')
        return listReply({ total: rows.length, offset: 0 }, rows.map(await viewer(request, id)))
      },
    },
    {
      method: 'POST',
      path: '/webhooks/:id/test',
      access: 'session',
      summary: 'Send a test event at once, without retries; the reply is its delivery with the response',
      body: webhookTestSchema,
      replies: { 200: webhookDeliverySchema },
      async handle(request) {
        const id = pathId(request, 'wh')
        const type = readTestType(await request.body())
        const sent = listedDelivery(await webhooks.test(request.credential.accountId, id, type))
        return ok((await viewer(request, id))(sent))
      },
    },
    {
      method: 'POST',
      path: '/webhooks/:id/deliveries/:delivery_id/replay',
      access: 'session',
      summary: 'Replay the event of a delivery; the reply is the new delivery',
      replies: { 200: webhookDeliverySchema },
      async handle(request) {
        const id = pathId(request, 'wh')
        const deliveryId = pathId(request, 'whd', 'delivery_id')
        const queued = listedDelivery(await webhooks.replay(request.credential.accountId, id, deliveryId))
        return ok((await viewer(request, id))(queued))
      },
    },
  ]
}

/** @throws ApiError */
export function listedDelivery(delivery: RequestedDelivery): ListedDelivery {
  if (delivery === 'no-webhook') throw notFound('Webhook')
  if (delivery === 'no-delivery') throw notFound('Webhook delivery')
  if (delivery === 'disabled')
    throw new ApiError(422, 'validation_error', 'The webhook is disabled. Enable it, then retry.')
  return delivery
}
