/** Schema of the facts about the installation. */
import * as z from 'zod'

export const installationSchema = z
  .object({
    object: z.literal('installation'),
    version: z.string(),
    base_url: z.string().meta({ description: 'Base URL of the API.' }),
    mail_host: z.string().meta({ description: 'Provider host, the target of the DNS records of domains.' }),
    laboratory: z.boolean().meta({
      description:
        'Whether the provider host is not a public host name, so that mail can only be sent to the simulator.',
    }),
    simulator_domain: z.string(),
    api_key_prefix: z.string(),
    standard_webhooks: z.boolean().meta({ description: 'Default of `standard_webhooks` of webhooks.' }),
    regions: z.array(z.object({ name: z.string(), feedback: z.boolean() })),
    plans: z.array(z.string()),
  })
  .meta({ id: 'Installation' })

export type InstallationView = z.output<typeof installationSchema>
