package io.seriatim.cli.train;

import io.seriatim.train.StopSignal;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What Ctrl-C does, and a request to terminate such as that of {@code kill}: the first one ends the training after its
 * step, with a checkpoint; the second one ends the process, but not in the middle of a file.
 *
 * <p>
 * There is no supported way to be told of a second interrupt: shutdown hooks run once. {@code sun.misc.Signal} is in
 * every JDK (module jdk.unsupported), and called by reflection, since javac warns of it where it is named. Where it is
 * missing, Ctrl-C ends the process at once, and the last checkpoint is what remains.
 */
final class Interrupts {
    /** The exit code of a training that was stopped: what shells report of a process that Ctrl-C has ended. */
    static final int INTERRUPTED = 130;

    private Interrupts() {
    }

    static void handle(StopSignal stop, PrintWriter err) {
        AtomicInteger count = new AtomicInteger();
        Runnable interrupted = () -> {
            if (count.incrementAndGet() == 1) {
                err.println("\nseriatim: stopping after this step; once more to stop at once");
                err.flush();
                stop.request();
            } else {
                stop.untilWritten(() -> {
                    err.println("\nseriatim: stopped at once; what came after the last checkpoint is lost");
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
                            // The handler must return, for the second signal to be heard.
                            Thread.ofPlatform().daemon().name("interrupt").start(interrupted);
                            return null;
                        }
                        return method.getName().equals("hashCode")
                                ? (Object) System.identityHashCode(self)
                                : method.getName();
                    });
            for (String name : List.of("INT", "TERM")) {
                signal.getMethod("handle", signal, handler).invoke(null,
                        signal.getConstructor(String.class).newInstance(name), proxy);
            }
        } catch (ReflectiveOperationException e) {
            err.println("seriatim: Ctrl-C will end the training at once here, since the JDK has no signals: " + e);
            err.flush();
        }
    }
}
