# Prints what Ruby's mail library reads in every message of a folder, as JSON by file name.
require 'base64'
require 'json'
require 'mail'

def mailboxes(field)
  field.addrs.map { |mailbox| [mailbox.display_name.to_s, mailbox.address] }
end

def part_of(part)
  parameters = part.content_type_parameters || {}
  {
    type: part.mime_type,
    charset: parameters['charset'],
    method: parameters['method'],
    disposition: part.content_disposition && part[:content_disposition].disposition_type,
    filename: part.filename,
    contentId: part.content_id,
    content: Base64.strict_encode64(part.body.decoded),
  }
end

def read(raw)
  message = Mail.new(raw)
  leaves = message.multipart? ? message.all_parts.reject(&:multipart?) : [message]
  {
    subject: message.subject,
    from: mailboxes(message[:from]),
    to: mailboxes(message[:to]),
    inReplyTo: message[:in_reply_to]&.value,
    references: message[:references]&.value,
    parts: leaves.map { |part| part_of(part) },
  }
end

read_all = Dir.children(ARGV[0]).to_h { |file| [file, read(File.binread(File.join(ARGV[0], file)))] }
puts JSON.generate(read_all)
