package io.seriatim.cli.demo;

import java.nio.file.Path;
import java.util.List;

/** Some class files that are handled together, and their size. */
record Group(List<Path> files, long bytes) {
    Group {
        files = List.copyOf(files);
    }
}
