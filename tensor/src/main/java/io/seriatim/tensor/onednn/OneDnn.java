package io.seriatim.tensor.onednn;

import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.NativePlatform;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether oneDNN is loaded, and the instruction sets that it uses. */
public final class OneDnn {
    private record Isa(int code, String name) {
    }

    /** In {@code dnnl_cpu_isa_t}, all sets with AVX-512 have this bit. */
    private static final int AVX512 = 0x20;

    /** All sets with float16 arithmetic have this bit. */
    private static final int FLOAT16 = 0x100;

    /** Of all sets with instructions for 8-bit products that are added up in 32 bits, one of these bits. */
    private static final int VNNI = 0x48;

    // The constants of dnnl_cpu_isa_t, most capable first.
    private static final List<Isa> SETS = List.of(new Isa(0x201ff, "AVX10.2"),
            new Isa(0x1fef, "AVX-512 with AMX (int8, bfloat16, float16)"),
            new Isa(0xfef, "AVX-512 with AMX (int8, bfloat16)"),
            new Isa(0x1ef, "AVX-512 with VNNI, bfloat16 and float16"),
            new Isa(0xe7, "AVX-512 with VNNI and bfloat16"),
            new Isa(0x67, "AVX-512 with VNNI"), new Isa(0x27, "AVX-512"), new Isa(0x1f, "AVX2 with VNNI and bfloat16"),
            new Isa(0xf, "AVX2 with VNNI"), new Isa(0x7, "AVX2"),
            new Isa(0x3, "AVX"), new Isa(0x1, "SSE4.1"));

    /**
     * The result of loading the library.
     *
     * @param loaded
     *            whether it is used
     * @param platform
     *            the kind of machine, as the artifacts name it; null if there is none for this one
     * @param folder
     *            where its files are; null if they were not unpacked
     * @param version
     *            its version; null if it is not loaded
     * @param instructions
     *            the instruction sets that it uses; null if it is not loaded
     * @param hasAvx512
     *            whether AVX-512 is among them, without which the library computes nothing in bfloat16
     * @param hasFloat16
     *            whether float16 arithmetic is among them, without which the library computes nothing in float16
     * @param problem
     *            why it is not loaded; null if it is
     */
    public record Status(boolean loaded, @Nullable String platform, @Nullable String folder, @Nullable String version,
            @Nullable String instructions, boolean hasAvx512, boolean hasFloat16,
            @Nullable String problem) {
    }

    private static final class Ahead {
        static final Thread LOADING = Thread.ofPlatform().daemon().name("seriatim-onednn").start(Dnnl::get);

        private Ahead() {
        }
    }

    private OneDnn() {
    }

    /**
     * Loads the library on a thread of its own, which takes a tenth of a second. Callers that need it earlier wait.
     *
     * @return the thread, the same each time
     */
    public static Thread loadAhead() {
        return Ahead.LOADING;
    }

    /**
     * Loads the library if that has not been tried yet.
     *
     * @return the result of loading it
     */
    public static Status status() {
        NativePlatform platform = NativePlatform.current();
        String classifier = platform == null ? null : platform.classifier();
        Dnnl dnnl = Dnnl.get();
        String folder = Dnnl.folder() == null ? null : String.valueOf(Dnnl.folder());
        return dnnl == null
                ? new Status(false, classifier, folder, null, null, false, false, Dnnl.problem())
                : new Status(true, classifier, folder, dnnl.version(), instructions(dnnl.isa()), hasAvx512(dnnl),
                        hasFloat16(dnnl), null);
    }

    /** Whether the library uses AVX-512. */
    static boolean hasAvx512(Dnnl dnnl) {
        return (dnnl.isa() & AVX512) != 0;
    }

    /** Whether the library uses AVX-512's float16 arithmetic. */
    static boolean hasFloat16(Dnnl dnnl) {
        return hasAvx512(dnnl) && (dnnl.isa() & FLOAT16) != 0;
    }

    /**
     * Whether the library adds up products of 8-bit integers in 32 bits. With older instruction sets it adds up pairs
     * of them in 16 bits, where the largest are cut off, or halves the weights.
     */
    static boolean sumsExactly(Dnnl dnnl) {
        NativePlatform platform = NativePlatform.current();
        return platform != null && platform.classifier().endsWith("x86_64") && (dnnl.isa() & VNNI) != 0;
    }

    private static String instructions(int isa) {
        for (Isa set : SETS) {
            if ((isa & set.code()) == set.code()) {
                return set.name();
            }
        }
        return "those of every processor of this kind";
    }
}
