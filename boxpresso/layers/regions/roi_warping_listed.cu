// roi_warping_listed.cu: the gradient of the maps of roi_warping.cu, for a GPU: what a pixel gets is found once for all channels.
//
// A launch lists, for each pixel of each tile, the bins whose sample has it: its weight, and the place of the bin's gradient, in the
// order of regions and bins. It brings the gradients into rows of all channels of a bin besides. listed_add.cu adds them up. A tile
// whose lists outgrow their room is left to roi_warping.cu.
#include "crossed.h"
#include "listed_pack.h"
#include "roi_warping.h"

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region. heads and room: see listed.h.
KERNEL roi_warping_prepare(int n, const Store* top_diff, const int* lists, const int* image, const int* low, const Real* part,
                           Real* packed, int* heads, Real* room, int most, Geometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED union {
      Crossing crossing;
      Real square[PACKED_SQUARE];
    } work;
    const Tiles tiles = tiles_of(lists);
    const Turns turns = turns_of(b, g.batch * tiles.down * tiles.across, g.regions, g.channels, -1);
    if (turns.lists) {
      const auto place_of = [&](int k, int axis, int p) {
        const Samples samples = samples_of(low, part, k, g);
        return axis ? column_of(samples, p) : row_of(samples, p);
      };
      const auto items_of = [&](int k, int axis, int line) {  // pixels ascend with bins, but for -1 outside the map
        Span some = {0, 0};
        for (int p = 0; p < (axis ? g.pooled_width : g.pooled_height); ++p) {
          const Place place = place_of(k, axis, p);
          if (place.low < 0 || (place.low != line && place.high != line)) continue;
          some = {some.end ? some.first : p, p + 1};
        }
        return some;
      };
      const auto item = [&](int k, int axis, int line, int p) { return Item{p, weight_in(place_of(k, axis, p), line)}; };
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      list_crossed(tile, heads + (long long)turns.number * LIST_HEAD, (Entry*)room, turns.number * most, most, g.regions, bins,
                   g.pooled_width, g.channels, work.crossing, items_of, item);
      if (turns.number == 0) pack_zeros(packed, g.regions * bins, g.channels);
    } else if (image[turns.number] >= 0) {  // no list names a region that lies in no image
      pack(top_diff, packed, turns.number, turns.channel, g.channels, bins, work.square,
           [](const Square& square, int c, int i) { return at(square, c, i); });
    }
    BARRIER();
  }
}
