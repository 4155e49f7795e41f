/** Lists the sessions of the signed-in user and ends single sessions. */

import { parseWireId, wireId } from '../../../lib/ids.ts'
import type { Sessions } from '../../../resources/accounts/sessions.ts'
import { notFound } from '../api-error.ts'
import { listReply, ok, type Route, sessionOf } from '../route/route.ts'
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
        const id = parseWireId('ses', request.params.id!)
        if (!id || !(await sessions.endOwn(sessionOf(request).userId, id))) throw notFound('Session')
        return ok({ object: 'session', id: wireId('ses', id), deleted: true })
      },
    },
  ]
}
