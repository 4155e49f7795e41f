# Prints the name of the last part of every message of a folder, as Ruby's mail library reads it, as JSON.
require 'json'
require 'mail'

names = Dir.children(ARGV[0]).to_h do |file|
  [file, Mail.new(File.binread(File.join(ARGV[0], file))).all_parts.last.filename]
end
puts JSON.generate(names)
