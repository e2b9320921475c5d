package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.kernel.Kernel;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A kernel that consists of others passes on not only that they are closed: one that forgot to release them would keep
 * their memory, and one that did not count it would be kept for nothing.
 */
class WrappedKernelsTest {
    private static boolean declares(Class<?> type, String method) {
        return Arrays.stream(type.getDeclaredMethods())
                .anyMatch(each -> each.getName().equals(method) && each.getParameterCount() == 0);
    }

    @Test
    void whatClosesAlsoReleasesAndCounts() throws IOException, ClassNotFoundException {
        Path folder = Path.of(URI.create(String.valueOf(OneDnn.class.getResource("OneDnn.class")))).getParent();
        List<String> names;
        try (Stream<Path> files = Files.list(folder)) {
            names = files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".class"))
                    .map(name -> OneDnn.class.getPackageName() + "." + name.replace(".class", "")).toList();
        }
        int found = 0;
        for (String name : names) {
            Class<?> type = Class.forName(name, false, OneDnn.class.getClassLoader());
            if (Kernel.class.isAssignableFrom(type) && declares(type, "close")) {
                found++;
                for (String method : List.of("bytes", "release", "load")) {
                    assertTrue(declares(type, method),
                            type.getSimpleName() + " has kernels that it closes, but does not declare " + method);
                }
            }
        }
        assertTrue(found >= 5, "kernels of kernels: " + found);
    }
}
