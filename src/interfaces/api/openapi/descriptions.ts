/** Describes operations for which the summary in their route is not enough, in Markdown. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  sendEmail:
    'The email is stored when the reply arrives and is sent afterwards; `GET /emails/{id}` has its status. Repeat a ' +
    'request whose reply you have not seen with the same `Idempotency-Key`, so that nothing is sent twice.',
  sendEmailBatch:
    'All emails are accepted or none, unless `x-batch-validation: permissive` is given. The quota is checked for ' +
    'the whole batch. Emails of a batch have the shape of a single send.',
  listEmails:
    'The list covers the retention window of the plan. Filters can be combined; each must match. Page with `after`, ' +
    'which is faster than a large `offset`.',
  exportEmails: 'The reply is a CSV stream of all emails that match, with the filters of the list.',
  getEmail:
    '`recipients` has the state of each recipient with the transcripts of all delivery attempts, `events` the ' +
    'timeline, oldest first.',
  getEmailMetrics: 'Counts and rates over a period, in total or by dimension. Lists are separated by commas.',
  getRawEmail: 'The message with its DKIM signatures, exactly as it was sent to the recipient.',
  updateEmail: 'Only an email with the status `scheduled` can be rescheduled.',
  cancelEmail: 'Only an email with the status `scheduled` can be canceled.',
  createEmailShare: 'Anybody who has the link can read the email until the link expires or is revoked.',
  createApiKey:
    'A key sends and reads email; it does not administer the account. With `domain_id`, it sends from that domain only ' +
    'and sees only mail of that domain.',
  createDomain:
    'The reply lists the DNS records to create. The domain can send when `POST /domains/{id}/verify`, or a check of ' +
    'its own accord, has found them.',
  verifyDomain: '`checks` has what each resolver found. The call may be repeated while DNS changes spread.',
  autoconfigureDomain:
    'The token needs permission to read the zone and to edit its DNS records. It is used for this request only and is ' +
    'never stored.',
  deleteDomain: 'Queued emails of the domain fail, and its API keys are deleted.',
  createBroadcast:
    'Without `send` and `scheduled_at`, the broadcast is a draft. Members of a segment are determined when sending begins.',
  updateBroadcast:
    'Absent fields keep their values. `""` removes `segment_id`, `topic_id`, `template_id`, `html` and `preview_text`.',
  sendBroadcast:
    'With `scheduled_at`, the broadcast is sent at that time; with `delay_seconds`, after this time; otherwise now.',
  cancelBroadcast: 'Emails that were handed to a mail server are not affected.',
  silenceAlerts:
    'Silenced alerts are still listed, with their `silence`, but not sent to operators. Without `provider`, `account_id` and ' +
    '`source_ip`, all alerts of the kind are silenced. A silence of the same alerts is replaced.',
  testAlerts:
    'The webhook is asked once, and its answer awaited for up to 10 seconds. Emails to operators are queued; their ' +
    'delivery is seen in the account whose domain sends them.',
  unsilenceAlerts: 'The body selects exactly the alerts that were silenced together.',
  createContact: 'Adds the address to each of the given audiences, or to none of them if one is not found.',
  createAudienceContact: 'An address can be in an audience once; adding it again is 400.',
  importAudienceContacts:
    'The first row names the columns; unknown columns become properties. The reply lists rows that failed.',
  createContactImport: 'The form has the CSV in its part `file`, and fields that describe its columns.',
  createSuppression:
    'Mail to a suppressed address is not sent. An address that is suppressed already is not changed.',
  importSuppressions:
    'Instead of JSON, the body may be CSV (`text/csv`) with a header row and the columns `email`, `reason` and ' +
    '`created_at`, or a list of addresses.',
  removeSuppressions: 'Give either `emails` or `ids`.',
  createWebhook:
    'Deliveries are signed with `signing_secret` by HMAC-SHA-256. `standard_webhooks` adds the headers of Standard ' +
    'Webhooks, which the verifiers of SDKs read.',
  updateWebhook: 'Values of the query take precedence over the body.',
  rotateWebhookSecret: 'The previous secret also signs for 24 hours.',
  replaceTemplate:
    'Replaces name, subject, HTML and text; an absent field is removed. The former content is kept as a version.',
  restoreTemplateVersion: 'The replaced content is kept as a new version, so that a restore can be undone.',
  forwardInboundEmail: 'The result is an email of its own, with the attachments of the received message.',
  replyToInboundEmail: 'The result is an email of its own, with the headers that keep it in its thread.',
  signIn:
    'A browser gets the session as a cookie. A client that sends neither `Origin` nor `Sec-Fetch-Site` also gets ' +
    '`token`, to send as a bearer token.',
  changePassword: 'All other sessions of the user end.',
  createQueueHold: 'Mail that matches all given filters stays in the queue until the hold is released.',
  cancelQueuedEmails: 'Repeat the request while `has_more` is true.',
  retryQueuedEmails: 'Repeat the request while `has_more` is true.',
  streamEvents:
    'An event stream (`text/event-stream`) that stays open. `Last-Event-ID` or `after` resumes it.',
  unsubscribe: 'A mailbox provider sends `List-Unsubscribe=One-Click`; the page sends a choice.',
  getPrometheusMetrics: 'Needs the value of the setting `metrics.token` as a bearer token.',
}
