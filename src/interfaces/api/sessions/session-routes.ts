/** Lists the sessions of the signed-in user and ends single sessions. */

import { wireId } from '../../../lib/ids.ts'
import type { Sessions } from '../../../resources/accounts/sessions.ts'
import { orNotFound } from '../api-error.ts'
import { listReply, ok, pathId, type Route, sessionOf } from '../route/route.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import { sessionRowSchema, sessionView } from './schema.ts'

export function sessionRoutes({ sessions }: { sessions: Pick<Sessions, 'list' | 'endOwn'> }): Route[] {
  return [
    {
      method: 'GET',
      path: '/auth/sessions',
      access: 'session',
      summary: 'List your sessions, last seen first',
      replies: { 200: listSchema(sessionRowSchema) },
      async handle(request) {
        const { userId, sessionId } = sessionOf(request)
        const rows = await sessions.list(userId)
        return listReply(
          { total: rows.length, offset: 0 },
          rows.map(row => sessionView(row, sessionId)),
        )
      },
    },
    {
      method: 'DELETE',
      path: '/auth/sessions/:id',
      access: 'session',
      summary: 'End one of your sessions',
      replies: { 200: deletedSchema('session', 'ses') },
      async handle(request) {
        const id = pathId(request, 'ses')
        orNotFound(await sessions.endOwn(sessionOf(request).userId, id), 'Session')
        return ok({ object: 'session', id: wireId('ses', id), deleted: true })
      },
    },
  ]
}
