# Turns what `nvcc -Xptxas -v` prints about kernels, after "file NAME" lines, into a Markdown table.

function short(name) {
  gsub(/windtunnel::|\(anonymous namespace\)::/, "", name)
  sub(/^void /, "", name)
  # Removes parameters, but not those of templates.
  if (match(name, /\([^()]*(\([^()]*\)[^()]*)*\)$/)) name = substr(name, 1, RSTART - 1)
  gsub(/\|/, "\\|", name)
  return name
}

/^file / { file = $2 }

/Compiling entry function/ {
  split($0, quoted, "'")
  kernel = file " | " short(quoted[2])
  architecture = quoted[4]
  if (!(kernel in seen)) order[++kernels] = kernel
  seen[kernel] = 1
  if (!(architecture in known)) architectures[++count] = architecture
  known[architecture] = 1
}

/bytes stack frame/ {
  stack = $1; stores = $5; loads = $9
  at = kernel SUBSEP architecture
  frames[at] = stack
  spills[at] = stores + loads
  if (spills[at] > 0) spilled++
}

/Used [0-9]+ registers/ {
  at = kernel SUBSEP architecture
  for (i = 1; i < NF; i++) {
    if ($i == "Used") registers[at] = $(i + 1)
    if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/) shared[at] = $i
  }
}

END {
  print "# What the CUDA kernels use"
  print ""
  print "Written by `./dev harness --resources` from what ptxas says. For each architecture: registers"
  print "of a thread, and static shared memory of a block where there is any; a stack frame or spills"
  print "where there are any (local memory, in bytes). That is compiled, not measured: how fast they are"
  print "on a device is for a calibration to say ([harness.md](harness.md))."
  print ""
  printf "%d kernels, %d architectures, %s.\n\n", kernels, count,
         (spilled > 0 ? spilled " with spills" : "none with spills")
  header = "| file | kernel |"; line = "|---|---|"
  for (a = 1; a <= count; a++) { header = header " " architectures[a] " |"; line = line "---|" }
  print header; print line
  for (k = 1; k <= kernels; k++) {
    row = "| " order[k] " |"
    for (a = 1; a <= count; a++) {
      at = order[k] SUBSEP architectures[a]
      cell = registers[at]
      if (shared[at] > 0) cell = cell ", " shared[at] " B shared"
      if (frames[at] > 0) cell = cell ", " frames[at] " B stack"
      if (spills[at] > 0) cell = cell ", **" spills[at] " B spills**"
      row = row " " cell " |"
    }
    print row
  }
}
