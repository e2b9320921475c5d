package io.seriatim.cli.demo;

import java.nio.file.Path;
import java.util.List;

/** Class files that are processed together, and their size. */
record Group(List<Path> files, long bytes) {
    Group {
        files = List.copyOf(files);
    }
}
