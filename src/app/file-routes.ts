/** Received mail, and files that are downloaded, over HTTP: a part of the composition root. */

import { createLinkTo } from '../interfaces/api/downloads/link.ts'
import { downloadRoutes } from '../interfaces/api/downloads/routes.ts'
import { emailAttachmentOpener, emailAttachmentRoutes } from '../interfaces/api/emails/attachment-routes.ts'
import { inboundAnswerRoutes } from '../interfaces/api/inbound/answer-routes.ts'
import { inboundFileRoutes } from '../interfaces/api/inbound/file-routes.ts'
import { createInboundFiles } from '../interfaces/api/inbound/files.ts'
import { receivingRoutes } from '../interfaces/api/inbound/receiving-routes.ts'
import { inboundRoutes } from '../interfaces/api/inbound/routes.ts'
import type { Route } from '../interfaces/api/route.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import type { Preparation } from '../pipeline/accept/prepare.ts'
import type { AppContext } from './context.ts'

interface Ways {
  accept: Accept
  preparation: Preparation
  /** To be called once the door is open. */
  baseUrl(): string
}

/** To stand before the routes of sent emails. */
export function fileRoutes(
  { config, clock, store, plans, secrets }: AppContext,
  { accept, preparation, baseUrl }: Ways,
): Route[] {
  const { horizonOf } = plans
  const linkTo = createLinkTo({ secrets, clock, baseUrl })
  const files = createInboundFiles({ store, horizonOf, mailHost: config.mailHost })
  const open = {
    'email-attachment': emailAttachmentOpener({ horizonOf, store }),
    'inbound-attachment': files.open,
    'inbound-message': files.open,
  }
  return [
    ...receivingRoutes({ horizonOf, store, linkTo }),
    ...inboundRoutes({ horizonOf, store, linkTo }),
    ...inboundFileRoutes({ horizonOf, store, files }),
    ...inboundAnswerRoutes({ accept, preparation, horizonOf, store }),
    ...emailAttachmentRoutes({ horizonOf, store, linkTo }),
    ...downloadRoutes({ secrets, clock, open }),
  ]
}
