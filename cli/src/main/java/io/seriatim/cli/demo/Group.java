package io.seriatim.cli.demo;

import java.nio.file.Path;
import java.util.List;

/** Some class files that are handled together. */
record Group(int number, List<Path> files) {
    Group {
        files = List.copyOf(files);
    }
}
