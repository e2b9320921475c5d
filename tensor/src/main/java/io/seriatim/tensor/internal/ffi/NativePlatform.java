package io.seriatim.tensor.internal.ffi;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The names of the native libraries for a kind of machine.
 *
 * @param classifier
 *            of the Maven artifact that holds them
 * @param libraries
 *            their file names, in the order in which they are loaded; the last is oneDNN
 * @param openMp
 *            the one that holds the OpenMP functions, or null if the system's does
 */
public record NativePlatform(String classifier, List<String> libraries, @Nullable String openMp) {
    static final String LINUX_X86_64 = "linux-x86_64";

    /**
     * The one of this process.
     *
     * @return null if there is no native library for it
     */
    public static @Nullable NativePlatform current() {
        return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    }

    static @Nullable NativePlatform of(String os, String arch) {
        String system = os.toLowerCase(Locale.ROOT);
        boolean arm = arch.equals("aarch64");
        boolean intel = arch.equals("amd64") || arch.equals("x86_64");
        if (system.startsWith("linux") && (arm || intel)) {
            return new NativePlatform(arm ? "linux-arm64" : LINUX_X86_64, List.of("libgomp.so.1", "libdnnl.so.3"),
                    "libgomp.so.1");
        }
        if (system.startsWith("mac") && arm) {
            return new NativePlatform("macosx-arm64", List.of("libomp.dylib", "libdnnl.3.dylib"), "libomp.dylib");
        }
        if (system.startsWith("windows") && intel) {
            return new NativePlatform("windows-x86_64", List.of("dnnl.dll"), null);
        }
        return null;
    }
}
