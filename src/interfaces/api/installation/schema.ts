/** Schema of the facts about the installation. */
import * as z from 'zod'

const limitSchema = z.object({
  alert: z
    .number()
    .nullable()
    .meta({ description: 'Share at which the operator gets an alert; null for none.' }),
  hold: z
    .number()
    .nullable()
    .meta({ description: 'Share at which mail of the account is held; null for none.' }),
})

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
    rate_limits: z.object({ bounces: limitSchema, complaints: limitSchema }).meta({
      description: 'Limits of hard bounces and of complaints, as shares of the deliveries of a day.',
    }),
  })
  .meta({ id: 'Installation' })

export type InstallationView = z.output<typeof installationSchema>
