/** Received mail, and files that are downloaded, over HTTP: a part of the composition root. */
import type { Accept } from './accept/accept.ts'
import type { Preparation } from './accept/prepare.ts'
import { createLinkTo } from './http/download-link.ts'
import { createInboundFiles } from './http/inbound-files.ts'
import type { Route } from './http/route.ts'
import { downloadRoutes } from './http/routes/downloads.ts'
import { emailAttachmentOpener, emailAttachmentRoutes } from './http/routes/email-attachments.ts'
import { inboundRoutes } from './http/routes/inbound.ts'
import { inboundAnswerRoutes } from './http/routes/inbound-answers.ts'
import { inboundFileRoutes } from './http/routes/inbound-files.ts'
import { receivingRoutes } from './http/routes/receiving.ts'
import type { Parts } from './parts.ts'

interface Ways {
  accept: Accept
  preparation: Preparation
  /** To be called once the door is open. */
  baseUrl(): string
}

/** To stand before the routes of sent emails. */
export function fileRoutes(
  { config, clock, store, plans, secrets }: Parts,
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
