/** Serves the source of received messages and their attachments. */

import { parseWireId } from '../../../lib/ids.ts'
import type { ShownInbound } from '../../../pipeline/inbound/find-inbound.ts'
import type { StoredPart } from '../../../pipeline/inbound/stored-content.ts'
import { storedParts } from '../../../pipeline/inbound/view.ts'
import { orNotFound } from '../api-error.ts'
import { findAttachment } from '../downloads/attachment-page.ts'
import { fileReply } from '../downloads/link.ts'
import type { Route } from '../route/route.ts'
import type { InboundFiles } from './files.ts'
import { findOwnInbound, type InboundSightParts } from './own-inbound.ts'

interface InboundFileRoutesOptions extends InboundSightParts {
  files: InboundFiles
}

export function inboundFileRoutes(options: InboundFileRoutesOptions): Route[] {
  const { files } = options
  return [
    {
      method: 'GET',
      path: '/inbound/:id/raw',
      access: 'key',
      summary: 'Retrieve the source of a received message',
      replies: { 200: 'message/rfc822' },
      async handle(request) {
        return fileReply(await files.message(await findOwnInbound(options, request)))
      },
    },
    {
      method: 'GET',
      path: '/inbound/:id/attachments/:n',
      access: 'key',
      summary: 'Download an attachment of a received message by its position, from 0, or its id',
      replies: { 200: '*/*' },
      async handle(request) {
        const row = await findOwnInbound(options, request)
        const part = orNotFound(partAt(row, request.params.n!), 'Attachment')
        return fileReply(await files.part(row, part))
      },
    },
  ]
}

function partAt(row: ShownInbound, place: string): StoredPart | undefined {
  const parts = storedParts(row)
  if (/^(?:0|[1-9]\d{0,3})$/.test(place)) return parts[Number(place)]
  const id = parseWireId('att', place)
  return id && findAttachment(parts, id)
}
