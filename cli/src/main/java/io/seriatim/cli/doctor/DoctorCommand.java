package io.seriatim.cli.doctor;

import io.seriatim.cli.text.Table;
import io.seriatim.device.DeviceNotFoundException;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.util.JavaDefects;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the processor, native libraries, devices and kernels. */
@Command(name = "doctor", description = "List the processor, native libraries, devices and kernels of this machine, "
        + "and what is missing and why.")
public final class DoctorCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--kernels", description = "List all kernels with their types.")
    private boolean kernels;

    /** Created by the command line parser. */
    public DoctorCommand() {
        // picocli sets the fields by reflection.
    }

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec, "spec").commandLine().getOut();
        Runtime runtime = Runtime.getRuntime();
        line(out, "Java",
                Runtime.version() + ", " + System.getProperty("java.vm.name") + ", heap of at most "
                        + gibibytes(runtime.maxMemory()));
        String defect = JavaDefects.of(Runtime.version());
        if (defect != null) {
            line(out, "", "warning: " + defect);
        }
        line(out, "system", System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch"));
        Processor processor = Processor.ofThisMachine();
        line(out, "processor", runtime.availableProcessors() + " of " + processor.model());
        line(out, "", instructions(processor.present(), processor.missing()));
        library(out);
        devices(out);
        kernels(out);
        out.flush();
        return 0;
    }

    private static void library(PrintWriter out) {
        OneDnn.Status status = OneDnn.status();
        if (status.loaded()) {
            line(out, "oneDNN", status.version() + " for " + status.platform() + ", uses " + status.instructions());
            line(out, "", "from " + status.folder());
        } else {
            line(out, "oneDNN", "not used: " + status.problem());
            line(out, "", "the portable kernels run instead, which are slower"
                    + (status.platform() == null
                            ? ""
                            : "; it comes with org.bytedeco:dnnl, classifier " + status.platform()));
        }
    }

    private static void devices(PrintWriter out) {
        Devices devices = Devices.system();
        for (Place place : devices.found()) {
            line(out, place.toString(), devices.get(place).description());
        }
        try {
            line(out, "cuda:0", devices.get(Place.parse("cuda:0")).description());
        } catch (DeviceNotFoundException e) {
            line(out, "cuda:0", "not found: " + String.valueOf(e.getMessage()).replaceFirst("^.*was not found: ", ""));
        }
    }

    private void kernels(PrintWriter out) {
        List<Kernels.KernelInfo> all = Kernels.system().list();
        Map<String, Long> byProvider = all.stream()
                .collect(Collectors.groupingBy(Kernels.KernelInfo::provider, TreeMap::new, Collectors.counting()));
        long operations = all.stream().map(Kernels.KernelInfo::operation).distinct().count();
        line(out, "kernels", operations + " operations; " + byProvider.entrySet().stream()
                .map(entry -> entry.getKey() + " for " + entry.getValue()).collect(Collectors.joining(", ")));
        if (kernels) {
            Table table = new Table(List.of("operation", "place", "provider", "types"));
            for (Kernels.KernelInfo info : all) {
                table.row(List.of(info.operation(), info.kind(), info.provider(),
                        info.dtypes().stream().map(DType::toString).collect(Collectors.joining(" "))));
            }
            out.println();
            out.println(table.text());
        }
    }

    private static void line(PrintWriter out, String name, String text) {
        out.printf(Locale.ROOT, "%-10s %s%n", name, text);
    }

    /** Describes which of the instructions that matter to kernels the processor has. */
    static String instructions(List<String> present, List<String> missing) {
        if (present.isEmpty()) {
            return "has none of " + String.join(", ", missing);
        }
        return "has " + String.join(", ", present) + (missing.isEmpty() ? "" : "; lacks " + String.join(", ", missing));
    }

    private static String gibibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1L << 30));
    }
}
