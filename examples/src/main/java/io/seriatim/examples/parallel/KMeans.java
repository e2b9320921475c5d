package io.seriatim.examples.parallel;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Guarded;
import io.seriatim.engine.Var;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;

/**
 * K-means clustering by Lloyd's algorithm over points in shards. In each iteration, every shard adds up its points by
 * the nearest centre, and a reduction adds up the sums of all shards and moves the centres. {@link #serial} is a loop
 * over iterations and shards; {@link #parallel} is the same loop with a variable for the centres and one for the sums
 * of each shard. The reduction adds the shards in their order, so the number of workers does not change the rounding.
 *
 * <p>
 * {@code KMeans [POINTS [SHARDS [ITERATIONS [WORKERS]]]]} clusters random points around 16 places.
 */
public final class KMeans {
    private static final int CLUSTERS = 16;
    private static final int DIMENSIONS = 8;

    private KMeans() {
    }

    /**
     * Clusters random points with both forms, and compares the centres.
     *
     * @param args
     *            the number of points, of shards, of iterations and of workers
     * @throws Exception
     *             if an argument is wrong or the results differ
     */
    public static void main(String... args) throws Exception {
        Arguments in = new Arguments("KMeans [POINTS [SHARDS [ITERATIONS [WORKERS]]]]", args);
        int points = in.next("POINTS", 100_000, CLUSTERS, 10_000_000);
        int shards = in.next("SHARDS", 16, 1, points / CLUSTERS);
        int iterations = in.next("ITERATIONS", 10, 1, 1000);
        int workers = in.workers();
        List<double[]> data = points(points, shards, 1);
        BiPredicate<double[], double[]> equal = Arrays::equals; // compares the bits
        double[] centres = Comparison.run("K-means of " + points + " points in " + shards + " shards, " + iterations
                + " iterations", workers, () -> serial(data, iterations),
                engine -> parallel(engine, data, iterations), equal);
        System.out.printf("first centre at %.3f, %.3f, …%n", centres[0], centres[1]);
    }

    /** Handles one shard after the other. */
    static double[] serial(List<double[]> shards, int iterations) {
        double[] centres = first(shards);
        Sums[] sums = new Sums[shards.size()];
        for (int iteration = 0; iteration < iterations; iteration++) {
            for (int s = 0; s < sums.length; s++) {
                sums[s] = Sums.of(shards.get(s), centres);
            }
            move(centres, Arrays.asList(sums));
        }
        return centres;
    }

    /** The same loop. All iterations are pushed at once; the variables order them. */
    static double[] parallel(Engine engine, List<double[]> shards, int iterations) throws InterruptedException {
        Guarded<double[]> centres = Guarded.of(engine, "centres", first(shards));
        List<Guarded<Sums>> sums = IntStream.range(0, shards.size())
                .mapToObj(s -> Guarded.of(engine, "sums of shard " + s, new Sums())).toList();
        Var[] all = sums.stream().map(Guarded::var).toArray(Var[]::new);
        for (int iteration = 0; iteration < iterations; iteration++) {
            for (int s = 0; s < all.length; s++) {
                double[] shard = shards.get(s);
                Guarded<Sums> sum = sums.get(s);
                engine.op("assign").reads(centres.var()).overwrites(sum.var())
                        .push(() -> sum.set(Sums.of(shard, centres.get())));
            }
            engine.op("move").reads(all).mutates(centres.var())
                    .push(() -> move(centres.get(), sums.stream().map(Guarded::get).toList()));
        }
        engine.waitToRead(centres.var());
        return centres.get();
    }

    /** Moves each centre to the mean of its points; one without points stays. */
    private static void move(double[] centres, List<Sums> shards) {
        Sums sum = new Sums();
        for (Sums shard : shards) { // in the order of the shards
            Arrays.setAll(sum.coordinates, i -> sum.coordinates[i] + shard.coordinates[i]);
            Arrays.setAll(sum.counts, c -> sum.counts[c] + shard.counts[c]);
        }
        for (int i = 0; i < centres.length; i++) {
            int count = sum.counts[i / DIMENSIONS];
            centres[i] = count == 0 ? centres[i] : sum.coordinates[i] / count;
        }
    }

    /** For each centre, the sum and the number of the points that are nearest to it. */
    private static final class Sums {
        final double[] coordinates = new double[CLUSTERS * DIMENSIONS];
        final int[] counts = new int[CLUSTERS];

        static Sums of(double[] points, double[] centres) {
            Sums sums = new Sums();
            for (int p = 0; p < points.length; p += DIMENSIONS) {
                int nearest = nearest(points, p, centres);
                sums.counts[nearest]++;
                for (int d = 0; d < DIMENSIONS; d++) {
                    sums.coordinates[nearest * DIMENSIONS + d] += points[p + d];
                }
            }
            return sums;
        }
    }

    private static int nearest(double[] points, int p, double[] centres) {
        int nearest = 0;
        double least = Double.POSITIVE_INFINITY;
        for (int c = 0; c < CLUSTERS; c++) {
            double distance = 0;
            for (int d = 0; d < DIMENSIONS; d++) {
                double difference = points[p + d] - centres[c * DIMENSIONS + d];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }
        return nearest;
    }

    /** Returns the first points of the first shard. */
    private static double[] first(List<double[]> shards) {
        return Arrays.copyOf(shards.getFirst(), CLUSTERS * DIMENSIONS);
    }

    /** Returns shards of random points around random places. The first shard must hold a point for each centre. */
    static List<double[]> points(int count, int shards, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] places = random.doubles(CLUSTERS * DIMENSIONS, -10, 10).toArray();
        return IntStream.range(0, shards).mapToObj(s -> {
            int own = count / shards + (s < count % shards ? 1 : 0);
            double[] shard = new double[own * DIMENSIONS];
            for (int p = 0; p < own; p++) {
                int place = random.nextInt(CLUSTERS);
                for (int d = 0; d < DIMENSIONS; d++) {
                    shard[p * DIMENSIONS + d] = places[place * DIMENSIONS + d] + random.nextGaussian();
                }
            }
            return shard;
        }).toList();
    }
}
