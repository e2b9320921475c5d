package io.seriatim.graph.program;

import java.lang.StackWalker.StackFrame;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where an operation was built: the innermost frames of the stack that belong neither to this module nor to the JDK.
 * Frames become text only on demand; until then the frames of the stack walk are kept, which costs a microsecond or
 * two.
 */
final class CallSite {
    private static final int MOST_FRAMES = 3;
    /**
     * How many frames are searched for user code, so that a deep stack without any, as under a reader of files, is not
     * walked to its end.
     */
    private static final int DEEPEST = 64;
    /**
     * The packages of this module that append operations. Tests and users may have packages of their own below
     * io.seriatim.graph.
     */
    static final Set<String> OWN = Set.of("io.seriatim.graph", "io.seriatim.graph.append",
            "io.seriatim.graph.autodiff", "io.seriatim.graph.dialect", "io.seriatim.graph.differentiate",
            "io.seriatim.graph.format",
            "io.seriatim.graph.format.pir", "io.seriatim.graph.interpret", "io.seriatim.graph.json",
            "io.seriatim.graph.lod", "io.seriatim.graph.op", "io.seriatim.graph.optimizer",
            "io.seriatim.graph.parallel", "io.seriatim.graph.program", "io.seriatim.graph.quantization",
            "io.seriatim.graph.translate", "io.seriatim.graph.unroll", "io.seriatim.graph.util");
    /** The packages of the JDK, also of its launcher of source files. */
    private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.tools.");
    /** Modules that translate models of other systems. */
    private static final List<String> TRANSLATING = List.of("io.seriatim.onnx.", "io.seriatim.mxnet.");
    private static final StackWalker WALKER = StackWalker.getInstance();

    private final List<StackFrame> found;

    private CallSite(List<StackFrame> found) {
        this.found = found;
    }

    /** Null where no user's code is near, and while a model of another system is translated. */
    static @Nullable CallSite current() {
        if (Importing.isActive()) {
            return null;
        }
        List<StackFrame> frames = WALKER.walk(CallSite::users);
        return frames.isEmpty() ? null : new CallSite(frames);
    }

    private static List<StackFrame> users(Stream<StackFrame> stack) {
        return stack.limit(DEEPEST).filter(frame -> isUsers(frame.getClassName())).limit(MOST_FRAMES).toList();
    }

    static boolean isUsers(String className) {
        if (JDK.stream().anyMatch(className::startsWith)) {
            return false;
        }
        if (TRANSLATING.stream().anyMatch(className::startsWith)) {
            return false;
        }
        return !className.startsWith("io.seriatim.graph.")
                || !OWN.contains(className.substring(0, className.lastIndexOf('.')));
    }

    /** As in a stack trace. */
    List<String> frames() {
        return found.stream().map(frame -> {
            StackTraceElement element = frame.toStackTraceElement();
            return element.getClassName() + "." + element.getMethodName() + "(" + place(element) + ")";
        }).toList();
    }

    private static String place(StackTraceElement element) {
        String file = element.getFileName() == null ? "Unknown source" : element.getFileName();
        return element.getLineNumber() < 0 ? file : file + ":" + element.getLineNumber();
    }
}
