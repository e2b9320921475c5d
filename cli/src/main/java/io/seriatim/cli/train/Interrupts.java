package io.seriatim.cli.train;

import io.seriatim.train.StopSignal;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Handles Ctrl-C and termination signals such as that of {@code kill}. The first signal ends the training after the
 * current step, with a checkpoint. The second one ends the process, but not while a file is being written.
 *
 * <p>
 * No supported API reports a second interrupt, because shutdown hooks run once. {@code sun.misc.Signal} is part of
 * every JDK (module jdk.unsupported). It is called by reflection, because javac warns about direct uses. If it is
 * missing, Ctrl-C ends the process at once, and only the last checkpoint remains.
 */
final class Interrupts {
    /** The exit code of a stopped training, which shells report for a process ended by Ctrl-C. */
    static final int INTERRUPTED = 130;

    private Interrupts() {
    }

    /**
     * Handles the signals from now on.
     *
     * @return the signals that this process ignores because the process that started it did, as that of Ctrl-C in a
     *         background job of a shell without job control. Such a signal stays ignored, as its starter wants
     */
    static List<String> handle(StopSignal stop, PrintWriter err) {
        List<String> ignored = new ArrayList<>();
        AtomicInteger count = new AtomicInteger();
        Runnable interrupted = () -> {
            if (count.incrementAndGet() == 1) {
                err.println("\nseriatim: stopping after this step; press Ctrl-C again to stop at once");
                err.flush();
                stop.request();
            } else {
                stop.untilWritten(() -> {
                    err.println("\nseriatim: stopped at once; the steps after the last checkpoint are lost");
                    err.flush();
                    Runtime.getRuntime().halt(INTERRUPTED);
                });
            }
        };
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[]{handler},
                    (self, method, arguments) -> {
                        if (method.getName().equals("handle")) {
                            // The handler must return, so that the second signal can be delivered.
                            Thread.ofPlatform().daemon().name("interrupt").start(interrupted);
                            return null;
                        }
                        return method.getName().equals("hashCode")
                                ? (Object) System.identityHashCode(self)
                                : method.getName();
                    });
            for (String name : List.of("INT", "TERM")) {
                Object before = signal.getMethod("handle", signal, handler).invoke(null,
                        signal.getConstructor(String.class).newInstance(name), proxy);
                // The JVM does not replace it, and reports it at each call. The proxy itself has no equals.
                if (Objects.equals(handler.getField("SIG_IGN").get(null), before)) {
                    ignored.add(name);
                }
            }
        } catch (ReflectiveOperationException e) {
            err.println(
                    "seriatim: Ctrl-C will end the training at once, because this JDK does not support signal "
                            + "handlers: "
                            + e);
            err.flush();
        }
        return ignored;
    }
}
