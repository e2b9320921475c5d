/** Tests of reports. */
@NullMarked
package io.seriatim.train.report;

import org.jspecify.annotations.NullMarked;
