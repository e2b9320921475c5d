/** Tests of ranks as threads and as processes. */
@NullMarked
package io.seriatim.cluster;

import org.jspecify.annotations.NullMarked;
