package io.seriatim.tensor.internal.ffi;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Loads oneDNN when it is first asked for.
 *
 * @param dnnl
 *            its calls; null if it could not be loaded
 * @param folder
 *            where it was loaded from; null if nothing was unpacked
 * @param problem
 *            the reason why there is none; null if there is one
 */
@SuppressWarnings("restricted")
record DnnlLibrary(@Nullable Dnnl dnnl, @Nullable Path folder, @Nullable String problem) {
    /** Its initialisation takes more than half a megabyte; where there is less, the process ends with SIGSEGV. */
    private static final long STACK_BYTES = 8L << 20;

    private static final class Once {
        /** The thread that loads the library must not need this class, which waits for it. */
        static final DnnlLibrary LOADED = CompletableFuture.supplyAsync(DnnlLibrary::load,
                Thread.ofPlatform().name("seriatim-load-onednn").daemon().stackSize(STACK_BYTES)::start).join();

        private Once() {
        }
    }

    /** Returns the library of this process. */
    static DnnlLibrary get() {
        return Once.LOADED;
    }

    static DnnlLibrary load() {
        NativePlatform platform = NativePlatform.current();
        if (platform == null) {
            return new DnnlLibrary(null, null,
                    "there is no oneDNN for " + System.getProperty("os.name") + " on " + System.getProperty("os.arch"));
        }
        Path folder = null;
        try {
            folder = NativeFiles.unpack(platform);
            SymbolLookup openMp = Linker.nativeLinker().defaultLookup();
            SymbolLookup last = openMp;
            for (String name : platform.libraries()) {
                // The loader finds a library that is loaded already by its name: those that oneDNN needs come first.
                last = SymbolLookup.libraryLookup(folder.resolve(name), Arena.global());
                openMp = name.equals(platform.openMp()) ? last : openMp;
            }
            return new DnnlLibrary(new Dnnl(last, openMp), folder, null);
        } catch (IllegalCallerException e) {
            Module module = DnnlLibrary.class.getModule();
            return new DnnlLibrary(null, folder, "oneDNN was not loaded, since Java denies native access to "
                    + (module.isNamed()
                            ? "the modules: start it with --enable-native-access=io.seriatim.device,"
                                    + module.getName()
                            : "the class path: start it with --enable-native-access=ALL-UNNAMED"));
        } catch (IOException | RuntimeException | LinkageError e) {
            return new DnnlLibrary(null, folder,
                    "oneDNN could not be loaded" + (folder == null ? "" : " from " + folder) + ": " + e);
        }
    }
}
