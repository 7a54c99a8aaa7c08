#include "base/formats/json_write.h"
#include "render/timelines/timeline.h"

#include "base/testing.h"

static struct capture *csv_sample(void)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_ASCEND;
    lane_id two = capture_lane(
        cap,
        (struct lane_key){.kind = LANE_STREAM, .device = -1, .name = capture_intern(cap, S("2"))});
    lane_id host = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .name = capture_intern(cap, S("main")),
                                                       .pid = 5,
                                                       .tid = 6});
    struct attr set[] = {
        attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, S("MatMul"))),
        attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, S("AI_CORE"))),
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, S("2,3;4"))),
        attr_int(capture_key(cap, KEY_BLOCK_DIM), 24),
    };
    struct attr own[] = {
        attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, S("7"))),
        attr_time(capture_key(cap, KEY_WAIT), 12),
        attr_int(capture_key(cap, KEY_TASK), 3),
    };

    capture_slice(cap, &(struct slice){.begin = 100,
                                       .dur = 50,
                                       .lane = two,
                                       .name = capture_intern(cap, S("late, \"quoted\"")),
                                       .kind = SLICE_COMM});
    capture_slice(cap, &(struct slice){.begin = 10,
                                       .dur = 20,
                                       .lane = two,
                                       .name = capture_intern(cap, S("mm")),
                                       .set = attrs_set(&cap->attrs, set, ARRAY_LEN(set)),
                                       .own = attrs_own(&cap->attrs, own, ARRAY_LEN(own)),
                                       .kind = SLICE_COMPUTE});
    capture_slice(cap, &(struct slice){.begin = 20,
                                       .dur = 5,
                                       .lane = host,
                                       .name = capture_intern(cap, S("aten::mm")),
                                       .kind = SLICE_HOST_OP});
    capture_seal(cap);
    return cap;
}

/* A collective on the row that a timeline has for its group. */
static struct capture *group(void)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_ASCEND;
    lane_id lane = capture_lane(
        cap, (struct lane_key){.kind = LANE_COMM,
                               .device = 1,
                               .name = capture_intern(cap, S("Group 0 Communication"))});

    capture_slice(cap, &(struct slice){.begin = 5,
                                       .dur = 6,
                                       .lane = lane,
                                       .name = capture_intern(cap, S("hcom_send_")),
                                       .kind = SLICE_COMM});
    capture_seal(cap);
    return cap;
}

static struct text render_all(struct capture *cap, const struct timeline_options *how)
{
    struct text text = {0};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(timeline_csv.write(&cut, how, text_sink(&text)));
    cut_fini(&cut);
    capture_free(cap);
    return text;
}

static struct text csv_render(const struct timeline_options *how)
{
    return render_all(csv_sample(), how);
}

TEST(kernels_are_rows_in_order_of_time)
{
    struct timeline_step steps[] = {{8, {90, 200}}};
    struct text text = csv_render(&(struct timeline_options){.steps = steps, .steps_n = 1});

    assert_str(((struct str){text.at, text.n}),
               "start_ns,dur_ns,device,stream,name,type,core,class,step,wait_ns,task,block_dim,"
               "mix_block_dim,input_shapes,input_dtypes,input_formats,output_shapes,"
               "output_dtypes,output_formats\n"
               "10,20,,2,mm,MatMul,AI_CORE,compute,7,12,3,24,,\"2,3;4\",,,,,\n"
               "100,50,,2,\"late, \"\"quoted\"\"\",,,comm,8,,,,,,,,,,\n");
    text_free(&text);
}

TEST(all_slices_carry_their_lane_and_their_attributes_as_json)
{
    struct text text = csv_render(&(struct timeline_options){.rows = TIMELINE_SLICES});

    assert_str(((struct str){text.at, text.n}),
               "start_ns,dur_ns,process,lane,device,pid,tid,kind,cat,name,step,args\n"
               "10,20,Ascend Hardware,Stream 2,,,,compute,,mm,7,\"{\"\"type\"\":\"\"MatMul\"\","
               "\"\"Task Type\"\":\"\"AI_CORE\"\",\"\"input_shapes\"\":\"\"2,3;4\"\","
               "\"\"block_dim\"\":24,\"\"step\"\":\"\"7\"\",\"\"wait_ns\"\":12,\"\"task\"\":3}\"\n"
               "20,5,process 5,main,,5,6,host_op,,aten::mm,,\n"
               "100,50,Ascend Hardware,Stream 2,,,,comm,,\"late, \"\"quoted\"\"\",,\n");
    text_free(&text);
}

TEST(collectives_of_a_group_have_no_stream)
{
    struct text text = render_all(group(), &(struct timeline_options){0});

    assert_true(str_find((struct str){text.at, text.n}, S("\n5,6,1,N/A,hcom_send_,")) < text.n);
    text_free(&text);
}

TEST_MAIN("render/timelines/csv", T(kernels_are_rows_in_order_of_time),
          T(collectives_of_a_group_have_no_stream),
          T(all_slices_carry_their_lane_and_their_attributes_as_json))
