/** What mail servers have said that the operator must see to. */
import { listOperatorAlerts } from '../../store/queue/operator-alerts.ts'
import type { Db } from '../../store/schema.ts'
import { insistOnOperator } from '../operator.ts'
import { listReply, type Route } from '../route.ts'
import { alertSchema, alertView } from '../wire/alert.ts'
import { pageQuery, readPage } from '../wire/read.ts'
import { listSchema } from '../wire/reply-schemas.ts'

export function alertRoutes({ db }: { db: Db }): Route[] {
  return [
    {
      method: 'GET',
      path: '/alerts',
      access: 'session',
      summary: 'What mail servers hold against this installation, newest first (operator)',
      query: pageQuery(),
      replies: { 200: listSchema(alertSchema) },
      async handle(request) {
        insistOnOperator(request)
        const page = readPage(request.query)
        const { total, rows } = await listOperatorAlerts(db, page)
        return listReply({ total, offset: page.offset }, rows.map(alertView))
      },
    },
  ]
}
